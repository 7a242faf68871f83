/** A certificate from the authority, got and kept: what happens becomes events of the machine, and its actions are done. */
import { logText } from "../../core/log.ts";
import type { Clock, World } from "../../core/world/world.ts";
import { timersOf } from "../lifecycle/timers.ts";
import { problemText } from "./describe.ts";
import { errandsOf } from "./errands.ts";
import { type Action, begin, type Events, type Moment, next, type Step } from "./machine.ts";
import type { Material } from "./material.ts";
import type { IdentityOptions } from "./options.ts";

/** Something that keeps the material in force. */
export interface Keeper {
  problem(): string | undefined;
  close(): Promise<void>;
}

/** Begins to ask; the first certificate is not waited for. */
export function keepByAuthority(world: World, options: IdentityOptions, material: Material): Keeper {
  const errands = errandsOf(world, options, material);
  const timers = timersOf<"next">(world.clock);
  const running = new Set<Promise<void>>();
  const first = begin();
  let state = first.state;
  let asked = new AbortController();
  first.actions.forEach(perform);
  return {
    problem: () => problemText(state, options.authority.address, world.clock.now().getTime()),
    async close() {
      send("close", momentOf(world.clock));
      await Promise.all(running);
    },
  };

  function send<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    take(next(options.renewal, state, name, event));
  }

  function take({ state: after, actions }: Step): void {
    state = after;
    actions.forEach(perform);
  }

  function perform(action: Action): void {
    switch (action.do) {
      case "ask":
        return run(ask());
      case "abandon":
        return asked.abort();
      case "store":
        return run(errands.store().then((problem) => send("stored", { ...momentOf(world.clock), problem })));
      case "timer":
        return timers.set("next", action.milliseconds, () => send("timeUp", momentOf(world.clock)));
      case "forgetTimer":
        return timers.forgetAll();
      case "say":
        return options.log[action.level](logText(action.text));
    }
  }

  function run(work: Promise<void>): void {
    running.add(work);
    work.finally(() => running.delete(work));
  }

  async function ask(): Promise<void> {
    const { signal } = asked = new AbortController();
    const outcome = await errands.ask(signal);
    if (outcome === undefined) return;
    const moment = momentOf(world.clock);
    if ("text" in outcome) return send("failed", { ...moment, failure: outcome });
    send("answered", { ...moment, notBefore: outcome.notBefore.getTime(), notAfter: outcome.notAfter.getTime() });
  }
}

function momentOf(clock: Clock): Moment {
  return { now: clock.now().getTime(), elapsed: clock.monotonic(), random: Math.random() };
}
