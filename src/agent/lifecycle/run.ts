/** Runs the state machine of Envoy's lifecycle. */
import { logText } from "../../platform/log.ts";
import type { Clock, SignalName, World } from "../../platform/world.ts";
import { startReaper } from "./reaper.ts";
import { envoyEffects } from "./effects.ts";
import { begin, next } from "./machine.ts";
import type { LifecycleControl, LifecycleOptions } from "./options.ts";
import type { Action, Counting, EventName, Events, Phase, State, Step, TimerName } from "./state.ts";

/**
 * Runs Envoy until it exits or a shutdown is requested, and reaps orphans. Resolves with the exit code after all epochs
 * are reaped: Envoy's own code (128 + signal) if Envoy exited by itself, the code from `stopCode` after a signal,
 * otherwise 0. Rejects with `MeshError` if Envoy cannot be started.
 */
export async function runLifecycle(world: World, options: LifecycleOptions): Promise<number> {
  const lifecycle = new Lifecycle(world, options);
  const stopReaper = startReaper(world);
  options.attach?.(lifecycle);
  const stop = SIGNALS.map(([signal, event]) =>
    world.signals.on(signal, () => {
      if (event === "stop") lifecycle.send("stop", { by: signal, code: options.stopCode?.(signal) ?? 0 });
      else lifecycle.send(event, { by: signal });
    })
  );
  if (options.watch !== undefined) {
    const { paths, milliseconds } = options.watch;
    const reload = () => lifecycle.send("reload", { by: "A change of the watched files" });
    stop.push(world.files.watch(paths, milliseconds, reload));
  }
  try {
    return await lifecycle.run();
  } finally {
    for (const each of stop) each();
    stopReaper();
  }
}

const SIGNALS: readonly (readonly [SignalName, "stop" | "quit" | "drain" | "reload" | "reopenLogs"])[] = [
  ["SIGTERM", "stop"],
  ["SIGINT", "stop"],
  ["SIGQUIT", "quit"],
  ["SIGHUP", "reload"],
  ["SIGUSR1", "reopenLogs"],
  ["SIGUSR2", "drain"],
];

class Lifecycle implements LifecycleControl {
  readonly #ended = Promise.withResolvers<number>();
  readonly #timers: ReturnType<typeof timersOf<TimerName | Counting["what"]>>;
  readonly #envoys: ReturnType<typeof envoyEffects> | undefined;
  readonly #waiting: (() => Step)[] = [];
  #state: State;
  readonly #first: Step;

  constructor(world: World, private readonly options: LifecycleOptions) {
    const { envoy, log } = options;
    this.#first = begin(envoy !== undefined);
    this.#state = this.#first.state;
    this.#timers = timersOf(world.clock);
    this.#envoys = envoy === undefined ? undefined : envoyEffects(world, envoy, {
      send: (name, event) => this.send(name, event),
      state: () => this.#state,
      log: (level, text) => log[level](logText(text)),
    });
  }

  phase(): Phase {
    return this.#state.phase;
  }

  send<Name extends EventName>(name: Name, event: Events[Name]): void {
    this.#enqueue(() => next(this.options.rules, this.#state, name, event));
  }

  async run(): Promise<number> {
    try {
      this.#enqueue(() => ({ state: this.#state, actions: this.#first.actions }));
      return await this.#ended.promise;
    } finally {
      await this.#envoys?.settle();
      this.#timers.clear();
    }
  }

  /** Queues a step. Steps run one at a time, because an action may send the next event. */
  #enqueue(step: () => Step): void {
    const waiting = this.#waiting;
    if (waiting.push(step) > 1) return;
    for (let first = waiting[0]; first !== undefined; waiting.shift(), first = waiting[0]) this.#take(first());
  }

  #take({ state, actions }: Step): void {
    const before = this.#state.phase;
    this.#state = state;
    if (before !== state.phase) this.options.changed?.(state.phase);
    for (const action of actions) this.#perform(action);
  }

  #perform(action: Action): void {
    switch (action.do) {
      case "prepare":
        return this.#envoys?.prepare(action.epoch);
      case "start":
        return this.#envoys?.start(action.epoch);
      case "drainListeners":
        return this.#envoys?.drainListeners(action.keepOpen);
      case "signal":
        return this.#envoys?.signal(action.name, action.epochs);
      case "count":
        return this.#timers.set(action.what, action.afterMilliseconds, () => this.#envoys?.count(action.what));
      case "timer":
        return this.#timers.set(action.timer, action.milliseconds, () => this.send("timeUp", { timer: action.timer }));
      case "log":
        return this.options.log[action.level](logText(action.text));
      case "end":
        return this.#ended.resolve(action.code);
      case "fail":
        return this.#ended.reject(action.error);
    }
  }
}

/** Returns named timers. Setting a timer replaces the previous timer of the same name. */
export function timersOf<Name>(clock: Clock) {
  const running = new Map<Name, AbortController>();
  return {
    set(name: Name, milliseconds: number, up: () => void): void {
      running.get(name)?.abort();
      const timer = new AbortController();
      running.set(name, timer);
      clock.sleep(milliseconds, timer.signal).then(() => timer.signal.aborted || up());
    },
    clear: () => running.forEach((timer) => timer.abort()),
  };
}
