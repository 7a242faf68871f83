/** Runs the lifecycle: turns signals, timers and exits into events of the machine, and performs its actions. */
import { logText } from "../../core/log.ts";
import type { SignalName, World } from "../../core/world/world.ts";
import { startReaper } from "./reaper.ts";
import { envoyEffects } from "./effects.ts";
import { begin, next } from "./machine.ts";
import type { LifecycleControl, LifecycleOptions } from "./options.ts";
import type { Action, Counting, EventName, Events, Phase, Step, TimerName } from "./state.ts";
import { timersOf } from "./timers.ts";

/**
 * Runs Envoy until it exits or is asked to. Resolves with the agent's exit code: Envoy's own (128 + signal) if it
 * exited unasked, 0 otherwise. Reaps orphans meanwhile. Rejects with `MeshError` if Envoy cannot be started. When it
 * settles, every Envoy was reaped.
 */
export async function runLifecycle(world: World, options: LifecycleOptions): Promise<number> {
  const ended = Promise.withResolvers<number>();
  const lifecycle = lifecycleOf(world, options, ended);
  const reaper = startReaper(world);
  const { send } = lifecycle;
  options.attach?.(lifecycle.control);
  const forget = SIGNALS.map(([signal, event]) => world.signals.on(signal, () => send(event, { by: signal })));
  if (options.watch !== undefined) {
    const { paths, milliseconds } = options.watch;
    forget.push(world.files.watch(paths, milliseconds, () => send("reload", { by: "A change of the watched files" })));
  }
  try {
    lifecycle.begin();
    return await ended.promise;
  } finally {
    await lifecycle.settle();
    for (const each of forget) each();
    lifecycle.forgetTimers();
    reaper.stop();
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

interface Lifecycle {
  readonly control: LifecycleControl;
  begin(): void;
  send<Name extends EventName>(name: Name, event: Events[Name]): void;
  forgetTimers(): void;
  settle(): Promise<void>;
}

type Level = "debug" | "info" | "warning" | "error";

function lifecycleOf(world: World, options: LifecycleOptions, ended: PromiseWithResolvers<number>): Lifecycle {
  const { rules, log } = options;
  const say = (level: Level, text: string) => log[level](logText(text));
  const first = begin(options.envoy !== undefined);
  let state = first.state;
  const waiting: (() => Step)[] = [];
  const timers = timersOf<TimerName | Counting["what"]>(world.clock);
  const envoys = options.envoy === undefined
    ? undefined
    : envoyEffects(world, options.envoy, { send, state: () => state, say });
  return {
    control: controlOf(() => state.phase, send),
    begin: () => enqueue(() => ({ state, actions: first.actions })),
    send,
    forgetTimers: () => timers.clear(),
    settle: async () => await envoys?.settle(),
  };

  function send<Name extends EventName>(name: Name, event: Events[Name]): void {
    enqueue(() => next(rules, state, name, event));
  }

  /** Steps run one at a time: an action may send the next event. */
  function enqueue(step: () => Step): void {
    if (waiting.push(step) > 1) return;
    for (let first = waiting[0]; first !== undefined; waiting.shift(), first = waiting[0]) take(first());
  }

  function take({ state: after, actions }: Step): void {
    const before = state.phase;
    state = after;
    if (before !== after.phase) options.changed?.(after.phase);
    actions.forEach(perform);
  }

  function perform(action: Action): void {
    switch (action.do) {
      case "prepare":
        return envoys?.prepare(action.epoch);
      case "start":
        return envoys?.start(action.epoch);
      case "drainListeners":
        return envoys?.drainListeners(action.keepOpen);
      case "signal":
        return envoys?.signal(action.name, action.epochs);
      case "count":
        return timers.set(action.what, action.afterMilliseconds, () => envoys?.count(action.what));
      case "timer":
        return timers.set(action.timer, action.milliseconds, () => send("timeUp", { timer: action.timer }));
      case "log":
        return say(action.level, action.text);
      case "end":
        return ended.resolve(action.code);
      case "fail":
        return ended.reject(action.error);
    }
  }
}

function controlOf(phase: () => Phase, send: Lifecycle["send"]): LifecycleControl {
  return {
    phase,
    stop: (by) => send("stop", { by }),
    quit: (by) => send("quit", { by }),
    drain: (by) => send("drain", { by }),
    reload: (by) => send("reload", { by }),
  };
}
