/** Keeps what tests download and build, in a cache that several processes can share. */

/** The folder of the checkout, without a trailing slash. */
export const CHECKOUT = decodeURIComponent(new URL("../../..", import.meta.url).pathname).replace(/\/$/, "");

/** The cache folder: the variable `MESH_CACHE`, or a folder in the checkout. */
export const CACHE = Deno.env.get("MESH_CACHE") ?? `${CHECKOUT}/.cache`;

/**
 * Makes a file unless it exists. Other processes that need the same file wait. `make` writes to a temporary path, which
 * is renamed when it returns. Returns `file`.
 */
export async function makeOnce(file: string, make: (path: string) => Promise<void>): Promise<string> {
  if (await exists(file)) return file;
  await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
  using lock = await Deno.open(`${file}.lock`, { write: true, create: true });
  await lock.lock(true);
  if (await exists(file)) return file;
  const unfinished = `${file}.new`;
  await make(unfinished);
  await Deno.rename(unfinished, file);
  return file;
}

async function exists(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
