/** Runs other programs through `Deno.Command`. */
import { EXIT, MeshError, messageOf } from "../../base/errors.ts";
import { exhaustion } from "../../base/exhaustion.ts";
import { findProgram, programPath } from "../program_path.ts";
import { RUNTIME_ERRORS } from "../runtime_errors.ts";
import { EACCES, ENOENT, SystemError } from "../system_calls.ts";
import type { AttachedChild, Child, ChildEnd, ChildSignal, Processes, Run, RunResult, Spawn } from "../world.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Implements `World.processes`. */
export const realProcesses: Processes = {
  run,
  spawn,
  attach,
  find: findProgram,
  isAwaited: (pid) => awaited.has(pid),
};

function start({ command, args = [], env, uid, gid }: Run & Spawn, options: Deno.CommandOptions): Deno.ChildProcess {
  return new Deno.Command(programPath(command), {
    ...options,
    args: [...args],
    ...(env === undefined ? {} : { env: { ...env } }),
    ...(uid === undefined ? {} : { uid }),
    ...(gid === undefined ? {} : { gid }),
  }).spawn();
}

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
  const stdin = run.stdin === undefined ? "null" : "piped";
  const child = start(run, { stdin, stdout: "piped", stderr: "piped" });
  // Marks the child as awaited, so that other code does not reap it. Ignores a failure, because `output()` reports it.
  endOf(child).catch(() => {});
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

/** Writes the program's input. Ignores a broken pipe, because a program may exit without reading all of its input. */
async function feed(child: Deno.ChildProcess, text: string | undefined): Promise<void> {
  if (text === undefined) return;
  const writer = child.stdin.getWriter();
  const written = writer.write(encoder.encode(text)).then(() => writer.close());
  await written.catch(() => {});
}

/** Signals that this process ignores stay ignored in the program (execve(2)). */
function spawn(spawn: Spawn): Child {
  const { errorOutput = "inherit", command } = spawn;
  try {
    const child = start(spawn, { stdin: "null", stdout: "inherit", stderr: errorOutput, detached: true });
    const { pid } = child;
    return {
      pid,
      errorOutput: errorOutput === "piped" ? child.stderr : undefined,
      ...whileRunning(child, (name) => signalGroup(pid, name)),
    };
  } catch (error) {
    if (error instanceof MeshError) throw error;
    const { reason = reasonOfStart(error), hint } = exhaustion(error) ?? {};
    throw new MeshError(`Cannot start "${command}": ${reason}`, { cause: error, hint });
  }
}

function reasonOfStart(error: unknown): string {
  if (error instanceof Deno.errors.NotFound) return "program not found";
  if (error instanceof Deno.errors.PermissionDenied) return "it is not executable, or this user may not run it";
  return messageOf(error);
}

/** Signals a process group. Returns `false` if the group has no process left. */
function signalGroup(pid: number, name: ChildSignal): boolean {
  try {
    Deno.kill(-pid, name);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw new MeshError(`Cannot send ${name} to process "${pid}": ${messageOf(error)}`, { cause: error });
  }
}

function attach(command: string, args: readonly string[]): AttachedChild {
  try {
    const child = start({ command, args }, { stdin: "inherit", stdout: "inherit", stderr: "inherit" });
    return whileRunning(child, (name) => {
      Deno.kill(child.pid, name);
      return true;
    });
  } catch (error) {
    if (error instanceof MeshError) throw error;
    if (error instanceof Deno.errors.NotFound) throw new SystemError("execvp", ENOENT);
    if (error instanceof Deno.errors.PermissionDenied) throw new SystemError("execvp", EACCES);
    throw new MeshError(`Cannot run "${command}": ${messageOf(error)}`, { cause: error, exitCode: EXIT.notExecutable });
  }
}

function whileRunning(child: Deno.ChildProcess, send: (name: ChildSignal) => boolean): AttachedChild {
  const ended = endOf(child);
  let isRunning = true;
  ended.finally(() => isRunning = false);
  return { ended, signal: (name) => isRunning && send(name) };
}

/** PIDs of children that Deno waits for; other code must not reap these children. */
const awaited = new Set<number>();

/** Waits for a child. Call this in the same turn of the event loop that starts the child. */
async function endOf(child: Deno.ChildProcess): Promise<ChildEnd> {
  awaited.add(child.pid);
  try {
    const { code, signal } = await child.status;
    return { code, signal: signal ?? undefined };
  } catch (error) {
    const number = RUNTIME_ERRORS.unknownSignal.pattern.exec(messageOf(error))?.[1];
    if (number === undefined) throw error;
    return { code: 128 + Number(number), signal: `SIG${number}` };
  } finally {
    awaited.delete(child.pid);
  }
}
