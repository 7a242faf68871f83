/** Small Go programs of the tests, built once for each state of their sources. */
const ROOT = decodeURIComponent(new URL("../../../", import.meta.url).pathname);
const CACHE = `${Deno.env.get("MESH_CACHE") ?? `${ROOT}.cache`}/servers`;

/**
 * Builds the module in a folder of the checkout, without tests and folders in it, and returns the path of the program. A
 * build takes half a minute; the program is named by a hash of the sources, so that the next call finds it.
 */
export async function goProgram(folder: string): Promise<string> {
  const source = `${ROOT}${folder}`;
  const program = `${CACHE}/${folder.slice(folder.lastIndexOf("/") + 1)}-${await hashOf(source)}`;
  if (await isFile(program)) return program;
  await Deno.mkdir(CACHE, { recursive: true });
  // Beside, and renamed: another process may build the same now.
  const built = `${program}.${Deno.pid}`;
  const { success, stderr } = await new Deno.Command("go", {
    args: ["-C", source, "build", "-trimpath", "-o", built, "."],
    stdin: "null",
  }).output();
  if (!success) throw new Error(`go build in ${folder}: ${new TextDecoder().decode(stderr).slice(-2000)}`);
  await Deno.rename(built, program);
  return program;
}

async function hashOf(folder: string): Promise<string> {
  const names = (await Array.fromAsync(Deno.readDir(folder))).filter(({ isFile }) => isFile).map(({ name }) => name)
    .toSorted();
  const texts = await Promise.all(
    names.map(async (name) => `${name}\n${await Deno.readTextFile(`${folder}/${name}`)}\n`),
  );
  const sum = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(texts.join("")));
  return new Uint8Array(sum).slice(0, 8).toHex();
}

async function isFile(path: string): Promise<boolean> {
  try {
    return (await Deno.stat(path)).isFile;
  } catch {
    return false;
  }
}
