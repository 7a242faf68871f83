/** Where tests keep what they download and build, and how several processes share it. */

/** The folder of the checkout, without a slash at the end. */
export const CHECKOUT = decodeURIComponent(new URL("../../..", import.meta.url).pathname).replace(/\/$/, "");

/** The cache folder of the checkout, or the one that `MESH_CACHE` names. */
export const CACHE = Deno.env.get("MESH_CACHE") ?? `${CHECKOUT}/.cache`;

/**
 * Makes a file unless it exists. Processes that want the same file wait for each other; `make` gets the path to write
 * to, which is renamed when it returns. Returns `file`.
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
