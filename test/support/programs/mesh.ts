/**
 * The program under test as a process: the binary that `MESH_BINARY` names, else a launcher of the sources. Test files
 * that import this module, themselves or through others, run again with a binary.
 */
import { realWorld } from "../../../src/platform/mod.ts";
import { fakeWorld } from "../fake_world.ts";
import { main } from "../../../src/cli/mod.ts";
import { BUNDLED } from "../../../tools/test/bundled_program.ts";
import { checkPrinted } from "../printed_json.ts";

const ROOT = decodeURIComponent(new URL("../../../", import.meta.url).pathname);

/** The binary under test; `undefined` without one. */
export const MESH_BINARY = Deno.env.get("MESH_BINARY");

/** The launcher of the sources. A run of end-to-end tests has bundled them: each start is cheaper. */
const LAUNCHER = Deno.env.get(BUNDLED) ?? `${ROOT}plugin/kubectl-mesh`;

/** The path of the program. */
export const MESH_COMMAND = MESH_BINARY ?? LAUNCHER;

/** Folders with what the runtime reads to start the program from the sources. */
export const SOURCES: readonly string[] = [ROOT, LAUNCHER.replace(/plugin\/[^/]*$/, "")];

/** How to run the program. All fields are optional. */
export interface MeshRun {
  readonly stdin?: string | Uint8Array<ArrayBuffer>;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
}

/** Runs the program to its end and returns what it said; JSON is checked against its schema. */
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
 * Like {@link runMesh}, from the sources without a process for it: signals do not reach it, and the working folder is
 * this process's own.
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

/** A program may close its input early. That is no error of the test. */
async function feed(child: Deno.ChildProcess, stdin: string | Uint8Array<ArrayBuffer> | undefined): Promise<void> {
  if (stdin === undefined) return;
  await new Blob([stdin]).stream().pipeTo(child.stdin).catch(() => {});
}
