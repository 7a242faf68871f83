/** A folder that is removed after the test: `await using folder = await temporaryFolder()`. */
export async function temporaryFolder() {
  const path = await Deno.makeTempDir({ prefix: "mesh-test-" });
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path, { recursive: true }) };
}
