/**
 * Registers a test that needs something of the machine. `missing` names what is absent (`undefined` if all is there);
 * the runner shows it as skipped with that reason.
 */
export function testWhen(
  missing: string | undefined,
  name: string,
  body: (t: Deno.TestContext) => void | Promise<void>,
) {
  if (missing === undefined) Deno.test(name, body);
  else Deno.test({ name: `${name} [skipped: ${missing}]`, ignore: true, fn: body });
}

/** A reason to skip if the program is not on PATH. */
export function needsProgram(name: string): string | undefined {
  const dirs = (Deno.env.get("PATH") ?? "").split(":");
  return dirs.some((dir) => exists(`${dir}/${name}`)) ? undefined : `${name} is not installed`;
}

/** The folder with the specification and shared cases, beside the checkout. */
export const SHARED = decodeURIComponent(new URL("../../../shared", import.meta.url).pathname);

/** Why `../shared` cannot be read; `undefined` if it is beside the checkout. */
export function needsShared(path = ""): string | undefined {
  return exists(`${SHARED}/${path}`) ? undefined : `../shared/${path} is not here`;
}

/**
 * Registers a test of the second set of cases, in `../shared`, if it is there; `body` gets its path. The first set, in this
 * repository, covers the same: it has tests of its own.
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
