import type { ChildEnd } from "./world.ts";

/** This program once more, as a child that does work for it: told through its standard input, answering through its output. */
export interface Helper {
  readonly pid: number;
  /** What it writes to its standard output, in pieces, until it ends. To be called once. */
  chunks(): AsyncIterable<Uint8Array>;
  /** Sends bytes, in the order of the calls. What it does not take, as it has ended, is lost: `ended` tells. */
  send(bytes: Uint8Array<ArrayBuffer>): void;
  /** Ends its input, after what was sent: it is to end then. */
  close(): void;
  /** Ends it at once. */
  kill(): void;
  /** Resolves when it has ended. */
  readonly ended: Promise<ChildEnd>;
}
