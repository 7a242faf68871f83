/** Runs a reader on many inputs. Defects are crashes, inputs that take too long, and growing memory. */
import { inputOf } from "./mutate.ts";
import { type FuzzReader, readOne } from "./reader.ts";
import { loadReader } from "./readers.ts";
import { shrunk } from "./shrink.ts";
import type { Report, Task } from "./worker.ts";

export interface FuzzOptions {
  readonly seed: number;
  readonly runs: number;
  /** The index of the first input. The seed and an index identify an input. */
  readonly from?: number;
}

/** The result of a run. */
export interface Outcome {
  readonly runs: number;
  readonly accepted: number;
  /** The time of the slowest input, in milliseconds. */
  readonly slowest: number;
  /** Peak resident memory of the whole process, in bytes. */
  readonly memory: number;
  readonly defect: Defect | undefined;
}

export interface Defect {
  readonly index: number;
  readonly text: string;
  /** The smallest input found with the same failure; the original input if it never ends. */
  readonly input: Uint8Array;
}

/** The deadline for an input, in milliseconds. An input of 64 KiB takes milliseconds, but the machine may be busy. */
const HANG = 60_000;
const LOOK = 500;
/** All readers need less memory than this, in bytes; a leak exceeds it. */
const MAX_MEMORY = 1.5e9;

/** Reads `runs` inputs in a worker. */
export async function fuzz(name: string, { seed, runs, from = 0 }: FuzzOptions): Promise<Outcome> {
  const progress = new SharedArrayBuffer(4);
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
  const watch = watchdog(progress);
  try {
    const report = Promise.withResolvers<Report>();
    worker.onmessage = ({ data }: MessageEvent<Report>) => report.resolve(data);
    worker.onerror = (event) => (event.preventDefault(), report.reject(new Error(event.message)));
    worker.postMessage({ reader: name, seed, from, to: from + runs, progress } satisfies Task);
    const end = await Promise.race([report.promise, watch.failure]);
    const common = { runs, memory: watch.memory() };
    if (end.defect === undefined) return { ...common, ...end, defect: undefined };
    const { index, text } = end.defect;
    const reader = await loadReader(name);
    const whole = inputOf(reader, seed, index);
    const input = "isHang" in end.defect ? whole : await smallest(reader, whole);
    return { ...common, accepted: 0, slowest: 0, defect: { index, text, input } };
  } finally {
    watch.end();
    worker.terminate();
  }
}

interface Watched {
  readonly defect: { readonly index: number; readonly text: string; readonly isHang: true };
}

function watchdog(progress: SharedArrayBuffer) {
  const at = new Int32Array(progress);
  const { promise: failure, resolve } = Promise.withResolvers<Watched>();
  let [index, since, memory] = [-1, performance.now(), 0];
  const timer = setInterval(() => {
    const now = Atomics.load(at, 0);
    if (now !== index) [index, since] = [now, performance.now()];
    memory = Math.max(memory, Deno.memoryUsage().rss);
    const text = performance.now() - since > HANG
      ? `the input takes longer than ${HANG / 1000} s`
      : memory > MAX_MEMORY
      ? `memory grows to ${(memory / 1e6).toFixed(0)} MB`
      : undefined;
    if (text !== undefined) resolve({ defect: { index: now, text, isHang: true } });
  }, LOOK);
  return { failure, memory: () => Math.max(memory, Deno.memoryUsage().rss), end: () => clearInterval(timer) };
}

/** Finds the smallest part of an input that causes the same kind of failure. */
async function smallest(reader: FuzzReader, input: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
  const failure = async (bytes: Uint8Array<ArrayBuffer>) => {
    try {
      await readOne(await reader.open(), reader, bytes);
      return undefined;
    } catch (error) {
      return error instanceof Error ? `${error.name}: ${error.message.replaceAll(/\d+|"[^"]*"/g, "")}` : String(error);
    }
  };
  const wanted = await failure(input);
  return wanted === undefined ? input : await shrunk(input, async (bytes) => await failure(bytes) === wanted);
}
