/** Reads inputs in a separate worker, so that it can be stopped if an input never ends. */
import { inputOf } from "./mutate.ts";
import { readOne } from "./reader.ts";
import { loadReader } from "./readers.ts";

/** The inputs that a worker reads. */
export interface Task {
  readonly reader: string;
  readonly seed: number;
  readonly from: number;
  readonly to: number;
  /** The shared index of the current input. */
  readonly progress: SharedArrayBuffer;
}

/** The result of a worker: all inputs are read, or one has a defect. */
export type Report =
  | { readonly accepted: number; readonly slowest: number; readonly defect?: undefined }
  | { readonly defect: { readonly index: number; readonly text: string } };

declare const self: { onmessage: (event: MessageEvent<Task>) => void; postMessage(report: Report): void };

self.onmessage = ({ data }) => void work(data).then((report) => self.postMessage(report));

async function work({ reader: name, seed, from, to, progress }: Task): Promise<Report> {
  const reader = await loadReader(name);
  const read = await reader.open();
  const at = new Int32Array(progress);
  let [accepted, slowest] = [0, 0];
  for (let index = from; index < to; index++) {
    Atomics.store(at, 0, index);
    const start = performance.now();
    try {
      if (await readOne(read, reader, inputOf(reader, seed, index))) accepted++;
    } catch (error) {
      return { defect: { index, text: error instanceof Error ? error.stack ?? error.message : String(error) } };
    }
    slowest = Math.max(slowest, performance.now() - start);
  }
  return { accepted, slowest };
}
