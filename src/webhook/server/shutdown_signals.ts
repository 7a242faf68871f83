import { EXIT } from "../../core/errors.ts";
import type { World } from "../../core/world/world.ts";

/** Signals that end a server, and the exit codes of one that they end at once. */
export const SIGNAL_EXIT = { SIGTERM: EXIT.terminated, SIGINT: EXIT.interrupted } as const;

export type EndingSignal = keyof typeof SIGNAL_EXIT;

/** How signals end a server. */
export interface Endings {
  /** Resolves with the first signal. */
  readonly first: Promise<EndingSignal>;
  /** Resolves with the second one, to the exit code that says it. */
  readonly second: Promise<number>;
  /** Aborted with the second. */
  readonly hurry: AbortSignal;
  /** Signals have their usual effect again. */
  stop(): void;
}

/** Waits for SIGTERM and SIGINT, twice. */
export function endings({ signals }: Pick<World, "signals">): Endings {
  const first = Promise.withResolvers<EndingSignal>();
  const second = Promise.withResolvers<number>();
  const hurry = new AbortController();
  let count = 0;
  const stops = (["SIGTERM", "SIGINT"] as const).map((name) =>
    signals.on(name, () => {
      if (count++ === 0) return first.resolve(name);
      hurry.abort();
      second.resolve(SIGNAL_EXIT[name]);
    })
  );
  return {
    first: first.promise,
    second: second.promise,
    hurry: hurry.signal,
    stop: () => stops.forEach((stop) => stop()),
  };
}
