import type { ChildEnd } from "./world.ts";

/** This program once more, as a child that does work for it; it is told what through its standard input. */
export interface Helper {
  readonly pid: number;
  /** Sends bytes, in the order of the calls. What it does not take, as it has ended, is lost: `ended` tells. */
  send(bytes: Uint8Array<ArrayBuffer>): void;
  /** Ends its input, after what was sent. */
  close(): void;
  /** Ends it at once. */
  kill(): void;
  /** Resolves when it has ended. */
  readonly ended: Promise<ChildEnd>;
}
