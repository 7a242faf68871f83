/**
 * Runs a program and waits, through posix_spawn(3) and poll(2). The program runs in parallel until its result is asked for; the
 * wait blocks the event loop. `Deno.Command` takes 3 ms more.
 */
import { kernelCalls } from "./kernel_calls.ts";
import { openSpawnLibc, type SpawnLibc } from "./libc.ts";
import { ENOENT, SystemError } from "../system_calls.ts";
import type { Run, RunResult } from "../world.ts";

/** A pipe holds this much (pipe(7)): all input is written before the program reads. */
const PIPE_BYTES = 64 * 1024;
const ENDLESS = 24 * 60 * 60 * 1000;
const SIGKILL = 9;
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Waits for the program to end. */
export type Wait = () => RunResult;

/** Starts the program of a path; `undefined` if it needs `Deno.Command`. Throws `SystemError` if it does not exist (ENOENT) or cannot be started. */
export function startProgram(run: Run, program: string): Wait | undefined {
  const input = encoder.encode(run.stdin ?? "");
  const isPlain = run.uid === undefined && run.gid === undefined && input.length <= PIPE_BYTES;
  const libc = Deno.build.os === "linux" && isPlain ? library() : undefined;
  if (libc === undefined) return undefined;
  const kernel = kernelCalls();
  const pipes = [kernel.pipe(), kernel.pipe(), kernel.pipe()] as const;
  const [stdin, stdout, stderr] = pipes;
  try {
    const pid = spawn(libc, run, program, [stdin.read, stdout.write, stderr.write]);
    kernel.write(stdin.write, input);
    const until = performance.now() + (run.timeoutMilliseconds ?? ENDLESS);
    return () => waitFor(pid, [stdout.read, stderr.read], until);
  } catch (error) {
    [stdout.read, stderr.read].forEach(kernel.close);
    throw error;
  } finally {
    [stdin.read, stdin.write, stdout.write, stderr.write].forEach(kernel.close);
  }
}

let opened: SpawnLibc | undefined;

function library(): SpawnLibc | undefined {
  try {
    return opened ??= openSpawnLibc();
  } catch (error) {
    if (error instanceof SystemError) return undefined;
    throw error;
  }
}

/** An empty list of actions is zeros; the structure is smaller than this on every platform. */
const ACTIONS_BYTES = 256;

function spawn(
  { symbols }: SpawnLibc,
  { command, args = [], env = {} }: Run,
  program: string,
  files: readonly number[],
): number {
  const actions = new Uint8Array(ACTIONS_BYTES);
  files.forEach((file, at) => symbols.posix_spawn_file_actions_adddup2(actions, file, at));
  const variables = Object.entries({ ...Deno.env.toObject(), ...env }).map(([name, value]) => `${name}=${value}`);
  const argv = new CTexts([command, ...args]);
  const environment = new CTexts(variables);
  const pid = new Int32Array(1);
  const path = encoder.encode(`${program}\0`);
  const failure = symbols.posix_spawnp(pid, path, actions, null, argv.pointers, environment.pointers);
  if (failure !== 0) throw new SystemError("posix_spawnp", failure);
  return pid[0] ?? 0;
}

/** NUL-terminated texts, and a null-terminated array of pointers to them. */
class CTexts {
  readonly pointers: BigUint64Array<ArrayBuffer>;
  /** Must live as long as the pointers are used. */
  readonly bytes: Uint8Array<ArrayBuffer>;

  constructor(texts: readonly string[]) {
    const parts = texts.map((text) => encoder.encode(`${text}\0`));
    this.bytes = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
    this.pointers = new BigUint64Array(parts.length + 1);
    const start = BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(this.bytes)));
    let at = 0;
    parts.forEach((part, index) => {
      this.bytes.set(part, at);
      this.pointers[index] = start + BigInt(at);
      at += part.length;
    });
  }
}

/** An output of a program, and the chunks that were read. */
interface Output {
  readonly file: number;
  readonly pieces: Uint8Array[];
}

/** Reads both outputs to their ends, then reaps the program. */
function waitFor(pid: number, files: readonly [number, number], until: number): RunResult {
  const kernel = kernelCalls();
  const [stdout, stderr] = [outputOf(files[0]), outputOf(files[1])];
  try {
    for (let open = [stdout, stderr]; open.length > 0 && performance.now() < until;) {
      const ready = kernel.poll(open.map(({ file }) => file), until - performance.now());
      open = open.filter((output, at) => !ready.includes(at) || hasMore(output));
    }
  } finally {
    files.forEach(kernel.close);
  }
  return { ...statusOf(pid, until), stdout: decoded(stdout.pieces), stderr: decoded(stderr.pieces) };
}

const FIRST_PAUSE = 0.05;
const LONGEST_PAUSE = 10;

/** Waits for the program, which ends right after its outputs. Kills it after the timeout. */
function statusOf(pid: number, until: number): Pick<RunResult, "code" | "timedOut"> {
  const kernel = kernelCalls();
  let timedOut = false;
  for (let pause = FIRST_PAUSE;; pause = Math.min(LONGEST_PAUSE, 2 * pause)) {
    const status = kernel.wait(pid);
    if (status !== undefined) return { code: exitCode(status), timedOut };
    if (performance.now() >= until) {
      kernel.kill(pid, SIGKILL);
      timedOut = true;
    }
    kernel.poll([], pause);
  }
}

function outputOf(file: number): Output {
  return { file, pieces: [] };
}

const buffer = new Uint8Array(16 * 1024);

/** Reads a chunk; `false` at the end. */
function hasMore({ file, pieces }: Output): boolean {
  const piece = buffer.slice(0, kernelCalls().read(file, buffer));
  pieces.push(piece);
  return piece.length > 0;
}

function decoded(pieces: readonly Uint8Array[]): string {
  return pieces.map((piece, at) => decoder.decode(piece, { stream: at < pieces.length - 1 })).join("");
}

/** The exit code in a status of wait(2); 128 + signal number if a signal ended the program. */
function exitCode(status: number): number {
  const signal = status & 0x7f;
  return signal === 0 ? status >> 8 & 0xff : 128 + signal;
}

/** Whether the error says that the program does not exist. */
export function isAbsent(error: unknown): boolean {
  return error instanceof SystemError && error.errno === ENOENT;
}
