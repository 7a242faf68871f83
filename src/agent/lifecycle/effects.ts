/** Carries out the state machine's effects on Envoy. */
import { MeshError, messageOf } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import { envoyAdmin } from "../envoy/admin.ts";
import { type EnvoySignal, type RunningEnvoy, startEnvoy, validateConfiguration } from "../envoy/process.ts";
import { untilLive } from "../envoy/liveness.ts";
import type { EnvoyOptions } from "../envoy/options.ts";
import type { Counting, EventName, Events, State } from "./state.ts";

interface LifecycleEvents {
  send<Name extends EventName>(name: Name, event: Events[Name]): void;
  state(): State;
  log(level: "info" | "warning", text: string): void;
}

const SETTLE_MILLISECONDS = 1000;

/** Returns the effects. Each effect returns immediately; its result arrives as an event. */
export function envoyEffects(world: World, options: EnvoyOptions, { send, state, log }: LifecycleEvents) {
  const admin = envoyAdmin(world, options.adminUrl, options.ownPorts);
  const args = new Map<number, readonly string[]>();
  const running = new Map<number, RunningEnvoy>();
  let preparation = Promise.resolve();
  return {
    prepare: (epoch: number) => void (preparation = prepare(epoch)),
    start(epoch: number): void {
      try {
        const envoy = startEnvoy(world, options, args.get(epoch) ?? []);
        running.set(epoch, envoy);
        log("info", `Envoy (epoch ${epoch}) started with PID ${envoy.pid}`);
        follow(epoch, envoy);
      } catch (error) {
        send("notStarted", { epoch, error: errorOf(error) });
      }
    },
    drainListeners(keepOpen: boolean): void {
      admin.drainListeners({ inboundOnly: options.inboundOnly, keepOpen }).catch((error) =>
        log("warning", `Cannot drain Envoy: ${messageOf(error)}`)
      );
    },
    signal(name: EnvoySignal, epochs: readonly number[]): void {
      for (const [epoch, envoy] of running) if (epochs.includes(epoch)) signal(envoy, name, log);
    },
    async count(what: Counting["what"]): Promise<void> {
      const count = what === "connections" ? admin.clientConnections() : admin.forwardedRequests();
      send("counted", { count: await count.catch(() => undefined) });
    },
    /** Waits briefly for a pending `prepare`, so that its files are removed. */
    async settle(): Promise<void> {
      const over = new AbortController();
      await Promise.race([preparation, world.clock.sleep(SETTLE_MILLISECONDS, over.signal)]);
      over.abort();
    },
  };

  async function prepare(epoch: number): Promise<void> {
    try {
      const prepared = await options.prepare(epoch);
      if (epoch > 0) await validateConfiguration(world, options, prepared);
      args.set(epoch, prepared);
      send("prepared", { epoch });
    } catch (error) {
      send("notStarted", { epoch, error: errorOf(error) });
    }
    if (!state().epochs.some(({ number }) => number === epoch)) await discard(options, epoch, log);
  }

  async function follow(epoch: number, envoy: RunningEnvoy): Promise<void> {
    const over = new AbortController();
    untilLive(world, admin, epoch, over.signal).then((live) => live && send("live", { epoch }));
    const end = await envoy.ended;
    over.abort();
    running.delete(epoch);
    await discard(options, epoch, log);
    send("exited", { epoch, end });
  }
}

/** Sends a signal, which needs the capability KILL if Envoy runs as another user. */
function signal(envoy: RunningEnvoy, name: EnvoySignal, log: LifecycleEvents["log"]): void {
  try {
    envoy.signal(name);
  } catch (error) {
    log("warning", messageOf(error));
  }
}

async function discard(options: EnvoyOptions, epoch: number, log: LifecycleEvents["log"]): Promise<void> {
  try {
    await options.discard?.(epoch);
  } catch (error) {
    log("warning", messageOf(error));
  }
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new MeshError(messageOf(error));
}
