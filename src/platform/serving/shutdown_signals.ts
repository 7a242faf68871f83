import { EXIT } from "../../base/errors.ts";
import type { World } from "../world.ts";

/** Signals that stop the server, with the exit codes of an immediate stop. */
export const SIGNAL_EXIT = { SIGTERM: EXIT.terminated, SIGINT: EXIT.interrupted, SIGHUP: EXIT.hungUp } as const;

export type ShutdownSignal = keyof typeof SIGNAL_EXIT;

/** Shutdown by signals: the first signal starts a graceful shutdown, a second signal stops the server immediately. */
export interface ShutdownSignals {
  readonly first: Promise<ShutdownSignal>;
  /** Resolves with the exit code of the second signal. */
  readonly second: Promise<number>;
  /** Aborted by the second signal. */
  readonly hurry: AbortSignal;
  /** Restores the default action of the signals. */
  stop(): void;
}

/** Handles SIGTERM, SIGINT and SIGHUP until `stop` is called. */
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
