/** The machine's effects on Envoy. */
import { MeshError, messageOf } from "../../core/errors.ts";
import type { World } from "../../core/world/world.ts";
import { envoyAdmin } from "../envoy/admin.ts";
import { type RunningEnvoy, startEnvoy, validateConfiguration } from "../envoy/process.ts";
import { untilLive } from "../envoy/liveness.ts";
import type { EnvoyOptions } from "./options.ts";
import type { Counting, EventName, Events, State } from "./state.ts";

/** The lifecycle as the effects see it. */
export interface LifecycleEvents {
  send<Name extends EventName>(name: Name, event: Events[Name]): void;
  state(): State;
  say(level: "info" | "warning", text: string): void;
}

/** The effects on Envoy. Each returns at once; its result is an event. */
export interface EnvoyEffects {
  prepare(epoch: number): void;
  start(epoch: number): void;
  drainListeners(keepOpen: boolean): void;
  signal(name: "SIGTERM" | "SIGKILL" | "SIGUSR1", epochs: readonly number[]): void;
  count(what: Counting["what"]): void;
  /** Waits briefly for a pending `prepare`, so that its files are removed. */
  settle(): Promise<void>;
}

/** Timeout of `settle`. */
const SETTLE_MILLISECONDS = 1000;

/** The effects for these options; no Envoy runs yet. */
export function envoyEffects(world: World, options: EnvoyOptions, { send, state, say }: LifecycleEvents): EnvoyEffects {
  const admin = envoyAdmin(world, options.adminUrl, options.ownPorts);
  const args = new Map<number, readonly string[]>();
  const running = new Map<number, RunningEnvoy>();
  let preparation = Promise.resolve();
  return {
    prepare: (epoch) => void (preparation = prepare(epoch)),
    start(epoch) {
      try {
        const envoy = startEnvoy(world, options, args.get(epoch) ?? []);
        running.set(epoch, envoy);
        say("info", `Envoy (epoch ${epoch}) started with PID ${envoy.pid}`);
        follow(epoch, envoy);
      } catch (error) {
        send("notStarted", { epoch, error: errorOf(error) });
      }
    },
    drainListeners(keepOpen) {
      const asked = admin.drainListeners({ inboundOnly: options.inboundOnly, keepOpen });
      asked.catch((error) => say("warning", `Cannot drain Envoy: ${messageOf(error)}`));
    },
    signal(name, epochs) {
      for (const [epoch, envoy] of running) if (epochs.includes(epoch)) signal(envoy, name, say);
    },
    async count(what) {
      const count = what === "connections" ? admin.clientConnections() : admin.forwardedRequests();
      send("counted", { count: await count.catch(() => undefined) });
    },
    async settle() {
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
    if (!state().epochs.some(({ number }) => number === epoch)) await discard(options, epoch, say);
  }

  async function follow(epoch: number, envoy: RunningEnvoy): Promise<void> {
    const over = new AbortController();
    untilLive(world, admin, epoch, over.signal).then((live) => live && send("live", { epoch }));
    const end = await envoy.ended;
    over.abort();
    running.delete(epoch);
    await discard(options, epoch, say);
    send("exited", { epoch, end });
  }
}

/** Signalling an Envoy of another user needs the capability KILL. */
function signal(envoy: RunningEnvoy, name: "SIGTERM" | "SIGKILL" | "SIGUSR1", say: LifecycleEvents["say"]): void {
  try {
    envoy.signal(name);
  } catch (error) {
    say("warning", messageOf(error));
  }
}

async function discard(options: EnvoyOptions, epoch: number, say: LifecycleEvents["say"]): Promise<void> {
  try {
    await options.discard?.(epoch);
  } catch (error) {
    say("warning", messageOf(error));
  }
}

function errorOf(error: unknown): Error {
  return error instanceof Error ? error : new MeshError(messageOf(error));
}
