/** Maintains a certificate from the CA: runs the state machine of machine.ts. */
import { type Logger, logText } from "../../platform/log.ts";
import type { World } from "../../platform/world.ts";
import { type CertificateInfo, generateEcKey, makeRsaKey, pkcs8Pem, type PrivateKey } from "../../golang/x509/mod.ts";
import { type Timers, timersOf } from "../lifecycle/timers.ts";
import { requestCertificate } from "./ca_client.ts";
import { spiffeIdOf } from "./ca_response.ts";
import { aheadText, problemText, spanText, stamp } from "./failure.ts";
import { begin, next } from "./machine.ts";
import type { IdentityOptions, KeyChoice } from "./options.ts";
import { outputProblem, writeOutput } from "./output.ts";
import type { Action, Events, Moment, State } from "./state.ts";
import type { CertificateStore, Maintenance } from "./store.ts";

/** Starts requesting certificates; does not wait for the first certificate. */
export function maintainFromCa(world: World, options: IdentityOptions, store: CertificateStore): Maintenance {
  const ca = new CaMaintenance(world, options, store);
  return { problem: () => ca.problem(), close: () => ca.close() };
}

class CaMaintenance {
  readonly #timers: Timers<"next">;
  readonly #running = new Set<Promise<void>>();
  #state: State;
  #request = new AbortController();
  #key: PrivateKey | undefined;

  constructor(
    private readonly world: World,
    private readonly options: IdentityOptions,
    private readonly store: CertificateStore,
  ) {
    this.#timers = timersOf(world.clock);
    const { state, actions } = begin();
    this.#state = state;
    for (const action of actions) this.#perform(action);
  }

  problem(): string | undefined {
    return problemText(this.#state, this.options.authority.address, this.world.clock.now().getTime());
  }

  async close(): Promise<void> {
    this.#send("close", this.#moment());
    await Promise.all(this.#running);
  }

  #moment(): Moment {
    const { clock } = this.world;
    return { now: clock.now().getTime(), elapsed: clock.monotonic(), random: Math.random() };
  }

  #send<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    const { state, actions } = next(this.options.renewal, this.#state, name, event);
    this.#state = state;
    for (const action of actions) this.#perform(action);
  }

  #perform(action: Action): void {
    switch (action.do) {
      case "request":
        return this.#run(this.#requestOnce());
      case "abort":
        return this.#request.abort();
      case "write":
        return this.#run(this.#write());
      case "timer":
        return this.#timers.set("next", action.milliseconds, () => this.#send("timeUp", this.#moment()));
      case "clearTimer":
        return this.#timers.clear();
      case "log":
        return this.options.log[action.level](logText(action.text));
    }
  }

  #run(work: Promise<void>): void {
    this.#running.add(work);
    work.finally(() => this.#running.delete(work));
  }

  /**
   * Sends one request. After a failure, the next request uses the same key, because generating an RSA key takes time.
   */
  async #requestOnce(): Promise<void> {
    const { world, options, store } = this;
    const { signal } = this.#request = new AbortController();
    const makeKey = async () => this.#key ??= await generateKey(options.key);
    const isRetry = this.#state.failure !== undefined;
    const begin = world.clock.monotonic();
    const outcome = await requestCertificate(world, options, makeKey, signal);
    const isFailed = signal.aborted || outcome.failure !== undefined;
    options.metrics?.certificateRequested({ milliseconds: world.clock.monotonic() - begin, isFailed, isRetry });
    if (signal.aborted) return;
    if (outcome.failure !== undefined) return this.#send("failed", { ...this.#moment(), failure: outcome.failure });
    this.#key = undefined;
    const { certificate, roots, leaf } = outcome.chain;
    logCertificate(options.log, leaf, options.spiffeId, world.clock.now().getTime());
    store.put({ certificate, key: options.isPkcs8 ? pkcs8Pem(outcome.key) : outcome.key.pem() }, roots);
    const [notBefore, notAfter] = [leaf.notBefore.getTime(), leaf.notAfter.getTime()];
    this.#send("answered", { ...this.#moment(), notBefore, notAfter });
  }

  async #write(): Promise<void> {
    const { world, store, options: { outputFolder: folder } } = this;
    const [workload, roots] = [store.workload(), store.roots()];
    let problem: string | undefined;
    try {
      const isWanted = folder !== "" && workload !== undefined && roots !== undefined;
      if (isWanted) await writeOutput(world.files, folder, workload, roots);
    } catch (error) {
      problem = outputProblem(folder, error);
    }
    this.#send("stored", { ...this.#moment(), problem });
  }
}

function logCertificate(log: Logger, leaf: CertificateInfo, requested: string, now: number): void {
  const got = spiffeIdOf(leaf) ?? "no SPIFFE identity";
  const end = leaf.notAfter.getTime();
  log.info(logText(`The certificate of ${got} is in force, until ${stamp(end)} (${spanText(end - now)})`));
  if (got !== requested) log.warning(logText(`The CA certified ${got} instead of ${requested}`));
  const ahead = aheadText(leaf.notBefore.getTime(), now);
  if (ahead !== undefined) log.warning(logText(ahead));
}

async function generateKey(choice: KeyChoice): Promise<PrivateKey> {
  return choice.type === "rsa" ? await makeRsaKey(choice.bits) : generateEcKey(choice.curve);
}
