/**
 * Registers a test that needs a resource of the machine. `missing` is the reason to skip it (`undefined` if nothing is
 * missing), which the runner prints.
 */
export function testWhen(
  missing: string | undefined,
  name: string,
  body: (t: Deno.TestContext) => void | Promise<void>,
) {
  if (missing === undefined) Deno.test(name, body);
  else Deno.test({ name: `${name} [skipped: ${missing}]`, ignore: true, fn: body });
}

/** Returns the reason to skip a test if the program is not on the PATH. */
export function needsProgram(name: string): string | undefined {
  const dirs = (Deno.env.get("PATH") ?? "").split(":");
  return dirs.some((dir) => exists(`${dir}/${name}`)) ? undefined : `${name} is not installed`;
}

/** The folder with the specification and the shared cases, next to the checkout. */
export const SHARED = decodeURIComponent(new URL("../../../shared", import.meta.url).pathname);

/** Returns the reason that `../shared` cannot be read; `undefined` if it is next to the checkout. */
export function needsShared(path = ""): string | undefined {
  return exists(`${SHARED}/${path}`) ? undefined : `../shared/${path} is not here`;
}

/**
 * Registers a test with the cases in `../shared`, if it exists; `body` gets their path. The cases in this repository
 * cover the same features, in separate tests.
 */
export function testShared(
  path: string,
  name: string,
  body: (path: string, t: Deno.TestContext) => void | Promise<void>,
) {
  if (exists(`${SHARED}/${path}`)) Deno.test(name, (t) => body(`${SHARED}/${path}`, t));
}

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
