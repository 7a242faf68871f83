import { EXIT } from "../../base/errors.ts";
import type { World } from "../world.ts";

/** Signals that stop the server, and the exit codes of an immediate stop. */
export const SIGNAL_EXIT = { SIGTERM: EXIT.terminated, SIGINT: EXIT.interrupted, SIGHUP: EXIT.hungUp } as const;

export type ShutdownSignal = keyof typeof SIGNAL_EXIT;

/** The first signal starts the graceful shutdown, the second one stops it at once. */
export interface ShutdownSignals {
  readonly first: Promise<ShutdownSignal>;
  /** Resolves with the exit code of the second signal. */
  readonly second: Promise<number>;
  /** Aborted by the second signal. */
  readonly hurry: AbortSignal;
  /** Restores the default effect of signals. */
  stop(): void;
}

/** Listens to SIGTERM, SIGINT and SIGHUP. */
export function shutdownSignals({ signals }: Pick<World, "signals">): ShutdownSignals {
  const first = Promise.withResolvers<ShutdownSignal>();
  const second = Promise.withResolvers<number>();
  const hurry = new AbortController();
  let count = 0;
  const stops = (["SIGTERM", "SIGINT", "SIGHUP"] as const).map((name) =>
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
