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

/** A reason to skip if `../shared` is not beside the checkout. */
export function needsShared(path = ""): string | undefined {
  return exists(`${SHARED}/${path}`) ? undefined : `../shared/${path} is not here`;
}

/** The folder with the specification and shared cases, beside the checkout. */
export const SHARED = decodeURIComponent(new URL("../../../shared", import.meta.url).pathname);

function exists(path: string): boolean {
  try {
    Deno.statSync(path);
    return true;
  } catch {
    return false;
  }
}
