/** A folder for one test, gone after it: `await using folder = await temporaryFolder()`. */
export async function temporaryFolder() {
  const path = await Deno.makeTempDir({ prefix: "mesh-test-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
