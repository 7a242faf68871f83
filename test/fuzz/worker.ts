/** Reads inputs in a worker of its own, so that one that never ends can be ended from outside. */
import { inputOf } from "./mutate.ts";
import { readOne } from "./reader.ts";
import { loadReader } from "./readers.ts";

/** What a worker is to do. */
export interface Task {
  readonly reader: string;
  readonly seed: number;
  readonly from: number;
  readonly to: number;
  /** The index of the input that is read. */
  readonly progress: SharedArrayBuffer;
}

/** What a worker says: all are read, or one is a defect. */
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
