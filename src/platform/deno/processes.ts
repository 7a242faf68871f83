import { MeshError, messageOf } from "../../base/errors.ts";
import { attachChild, endOfChild, isAwaited, spawnChild } from "./child_process.ts";
import { findProgram, programPath } from "../program_path.ts";
import type { Processes, Run, RunResult } from "../world.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Runs other programs through `Deno.Command`. */
export const realProcesses: Processes = {
  run,
  spawn: spawnChild,
  attach: attachChild,
  find: findProgram,
  isAwaited,
};

/** Runs a program and waits until it exits. If the program does not exist, returns exit code 127 and does not throw. */
async function run(run: Run): Promise<RunResult> {
  try {
    return await runToEnd(run);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) {
      return { code: 127, stdout: "", stderr: `${run.command}: not found`, timedOut: false };
    }
    if (error instanceof MeshError) throw error;
    throw new MeshError(`Cannot run "${run.command}": ${messageOf(error)}`, { cause: error });
  }
}

async function runToEnd(run: Run): Promise<RunResult> {
  const child = new Deno.Command(programPath(run.command), commandOptions(run)).spawn();
  // `output()` below also waits, and reports a failure.
  endOfChild(child).catch(() => {});
  let timedOut = false;
  const outcome = Promise.all([child.output(), feed(child, run.stdin)]).then(
    ([{ code, stdout, stderr }]): RunResult => {
      return { code, stdout: decoder.decode(stdout), stderr: decoder.decode(stderr), timedOut };
    },
  );
  if (run.timeoutMilliseconds === undefined) return await outcome;
  const late = Promise.withResolvers<RunResult>();
  const giveUp = () => late.resolve({ code: KILLED, stdout: "", stderr: "", timedOut });
  let timer = setTimeout(() => {
    timedOut = true;
    child.kill("SIGKILL");
    timer = setTimeout(giveUp, LAST_OUTPUT);
  }, run.timeoutMilliseconds);
  try {
    return await Promise.race([outcome, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** Exit code of a killed program: 128 + SIGKILL, as in a shell. */
const KILLED = 137;

/** Milliseconds to read the output of a killed program, because its children may keep the pipes open forever. */
const LAST_OUTPUT = 500;

function commandOptions(run: Run): Deno.CommandOptions {
  return {
    args: [...run.args ?? []],
    stdin: run.stdin === undefined ? "null" : "piped",
    stdout: "piped",
    stderr: "piped",
    ...(run.env === undefined ? {} : { env: { ...run.env } }),
    ...(run.uid === undefined ? {} : { uid: run.uid }),
    ...(run.gid === undefined ? {} : { gid: run.gid }),
  };
}

/** Writes the program's input. Ignores a broken pipe, because a program may exit without reading all of its input. */
async function feed(child: Deno.ChildProcess, text: string | undefined): Promise<void> {
  if (text === undefined) return;
  const writer = child.stdin.getWriter();
  const written = writer.write(encoder.encode(text)).then(() => writer.close());
  await written.catch(() => {});
}
