import { MeshError, messageOf } from "../../errors.ts";
import { attachChild, spawnChild } from "./child_process.ts";
import { isAbsent, startBrief } from "../linux/run_and_wait.ts";
import { spawnHelper } from "./helper.ts";
import type { Processes, Run, RunResult } from "../world.ts";

const decoder = new TextDecoder();
const encoder = new TextEncoder();

/** Other programs, through `Deno.Command`. */
export const realProcesses: Processes = {
  run: (run) => explained(run, () => runToEnd(run)),
  begin: (run) => {
    const end = begin(run);
    return () => explained(run, end);
  },
  spawn: spawnChild,
  attach: attachChild,
  help: spawnHelper,
};

/** A program that is not there is a result. */
async function explained(run: Run, end: () => Promise<RunResult>): Promise<RunResult> {
  try {
    return await end();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || isAbsent(error)) return notFound(run.command);
    throw new MeshError(`Cannot run "${run.command}": ${messageOf(error)}`, { cause: error });
  }
}

function begin(run: Run): () => Promise<RunResult> {
  try {
    const end = startBrief(run);
    if (end !== undefined) return () => Promise.resolve().then(end);
  } catch (error) {
    return () => Promise.reject(error);
  }
  const result = runToEnd(run);
  // Nobody may ask for it.
  result.catch(() => {});
  return () => result;
}

async function runToEnd(run: Run): Promise<RunResult> {
  const child = new Deno.Command(run.command, commandOptions(run)).spawn();
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
    timer = setTimeout(giveUp, LAST_WORDS);
  }, run.timeoutMilliseconds);
  try {
    return await Promise.race([outcome, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** As a shell tells the end by SIGKILL. */
const KILLED = 137;

/** How long the outputs of a killed program are read, in milliseconds: what it has started may hold them for ever. */
const LAST_WORDS = 500;

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

/** A program that ends without reading all of its input is judged by its exit code, not by the pipe that it closed. */
async function feed(child: Deno.ChildProcess, text: string | undefined): Promise<void> {
  if (text === undefined) return;
  const writer = child.stdin.getWriter();
  const written = writer.write(encoder.encode(text)).then(() => writer.close());
  await written.catch(() => {});
}

function notFound(command: string): RunResult {
  return { code: 127, stdout: "", stderr: `${command}: not found`, timedOut: false };
}
