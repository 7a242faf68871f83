/**
 * Runs the program under test as a process: the binary in the variable `MESH_BINARY`, or the sources through a
 * launcher. When a binary is tested, only test files that import this module, directly or not, run again.
 */
import { realWorld } from "../../../src/platform/mod.ts";
import { fakeWorld } from "../fake_world.ts";
import { main } from "../../../src/cli/mod.ts";
import { BUNDLED } from "../../../tools/test/bundled_program.ts";
import { checkPrinted } from "../printed_json.ts";

const ROOT = decodeURIComponent(new URL("../../../", import.meta.url).pathname);

/** The path of the binary under test; `undefined` if the sources are tested. */
export const MESH_BINARY = Deno.env.get("MESH_BINARY");

/** The launcher of the sources. A run of end-to-end tests bundles them first, so that each start takes less time. */
const LAUNCHER = Deno.env.get(BUNDLED) ?? `${ROOT}plugin/kubectl-mesh`;

/** The path of the program. */
export const MESH_COMMAND = MESH_BINARY ?? LAUNCHER;

/** The folders that the runtime reads to start the program from the sources. */
export const SOURCES: readonly string[] = [ROOT, LAUNCHER.replace(/plugin\/[^/]*$/, "")];

/** How to run the program. All fields are optional. */
export interface MeshRun {
  readonly stdin?: string | Uint8Array<ArrayBuffer>;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
}

/** Runs the program and returns its output. JSON is checked against its schema. */
export async function runMesh(args: readonly string[], run: MeshRun = {}) {
  const child = new Deno.Command(MESH_COMMAND, {
    args: [...args],
    cwd: run.cwd ?? ROOT,
    env: { KUBECONFIG: "/nonexistent", ...run.env },
    stdin: run.stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const [{ code, stdout, stderr }] = await Promise.all([child.output(), feed(child, run.stdin)]);
  const said = { code, stdout: new TextDecoder().decode(stdout), stderr: new TextDecoder().decode(stderr) };
  checkPrinted(args, said);
  return said;
}

/**
 * Runs the program as {@link runMesh} does, but from the sources in this process: signals do not reach it, and the
 * working folder is the one of this process.
 */
export async function sayMesh(args: readonly string[], run: MeshRun = {}) {
  if (MESH_BINARY !== undefined || run.cwd !== undefined) return await runMesh(args, run);
  const env = { ...Deno.env.toObject(), KUBECONFIG: "/nonexistent", ...run.env };
  const { stdin = "" } = run;
  const { said, name, stdout, stderr, signals, permissions, ...fake } = fakeWorld({ args, env, stdin });
  const world = { ...realWorld(), name, args, env: fake.env, stdin: fake.stdin, stdout, stderr, signals, permissions };
  const code = await main(world);
  checkPrinted(args, said);
  return { code, ...said };
}

/** Writes the input. A program may close its input early, which is not an error. */
async function feed(child: Deno.ChildProcess, stdin: string | Uint8Array<ArrayBuffer> | undefined): Promise<void> {
  if (stdin === undefined) return;
  await new Blob([stdin]).stream().pipeTo(child.stdin).catch(() => {});
}
