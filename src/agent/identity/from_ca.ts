/** Maintains a certificate from the CA: turns results and timers into events of the machine, and runs its actions. */
import { type Logger, logText } from "../../core/log.ts";
import type { Clock, World } from "../../core/world/world.ts";
import { timersOf } from "../lifecycle/timers.ts";
import { aheadText, problemText, spanText, stamp } from "./failure.ts";
import { type Action, begin, type Events, type Failure, type Moment, next, type Step } from "./machine.ts";
import type { Material } from "./store.ts";
import type { IdentityOptions, KeyChoice } from "./options.ts";
import { type Facts, generateEcKey, makeRsaKey, pkcs8Pem, type PrivateKey } from "../../core/x509/mod.ts";
import { spiffeIdOf } from "./ca_response.ts";
import { ask } from "./ca_client.ts";
import { outputProblem, writeOutput } from "./output.ts";

/** Maintains the certificate in the store. */
export interface Keeper {
  problem(): string | undefined;
  close(): Promise<void>;
}

/** Starts requesting; does not wait for the first certificate. */
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

/** The effects of the machine. They never reject. */
export interface Errands {
  /** The new certificate's fields, or the failure; `undefined` after an abort. */
  ask(signal: AbortSignal): Promise<Facts | Failure | undefined>;
  /** Writes the files; resolves with the problem, if any. */
  store(): Promise<string | undefined>;
}

export function errandsOf(world: World, options: IdentityOptions, material: Material): Errands {
  let key: PrivateKey | undefined;
  return {
    /** The key of a failed request is kept for the next one: RSA keys take time. */
    async ask(signal) {
      const outcome = await ask(world, options, async () => key ??= await makeKey(options.key), signal);
      if (signal.aborted) return undefined;
      if (outcome.failure !== undefined) return outcome.failure;
      key = undefined;
      const { chain: { certificate, roots, leaf } } = outcome;
      tell(options.log, leaf, options.spiffeId, world.clock.now().getTime());
      material.put({ certificate, key: keyPem(outcome.key, options.isPkcs8) }, roots);
      return leaf;
    },
    async store() {
      const { outputFolder } = options;
      const [workload, roots] = [material.workload(), material.roots()];
      if (outputFolder === "" || workload === undefined || roots === undefined) return undefined;
      try {
        await writeOutput(world.files, outputFolder, workload, roots);
        return undefined;
      } catch (error) {
        return outputProblem(outputFolder, error);
      }
    },
  };
}

function tell(log: Logger, leaf: Facts, asked: string, now: number): void {
  const got = spiffeIdOf(leaf) ?? "no SPIFFE identity";
  const end = leaf.notAfter.getTime();
  log.info(logText(`The certificate of ${got} is in force, until ${stamp(end)} (${spanText(end - now)})`));
  if (got !== asked) log.warning(logText(`The CA certified ${got} instead of ${asked}`));
  const ahead = aheadText(leaf.notBefore.getTime(), now);
  if (ahead !== undefined) log.warning(logText(ahead));
}

/** A new key, kept in memory only. */
export async function makeKey(choice: KeyChoice): Promise<PrivateKey> {
  return choice.type === "rsa" ? await makeRsaKey(choice.bits) : generateEcKey(choice.curve);
}

/** PEM in the key's own form or as PKCS #8. */
export function keyPem(key: PrivateKey, isPkcs8: boolean): string {
  return isPkcs8 ? pkcs8Pem(key) : key.pem();
}
