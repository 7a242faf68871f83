/** Maintains a certificate from the CA: requests it, renews it, and retries after failures. */
import { type Logger, logText } from "../../platform/log.ts";
import type { World } from "../../platform/world.ts";
import { type CertificateInfo, generateEcKey, makeRsaKey, pkcs8Pem, type PrivateKey } from "../../golang/x509/mod.ts";
import { requestCertificate } from "./ca_client.ts";
import { spiffeIdOf } from "./ca_response.ts";
import { aheadText, type Failure, problemText, spanText, stamp } from "./failure.ts";
import type { IdentityOptions } from "./options.ts";
import { outputProblem, writeOutput } from "./output.ts";
import { dueAt, type Held, isDue, type Moment, retryDelay, until } from "./schedule.ts";
import type { CertificateStore, Maintenance } from "./store.ts";

const REQUEST_TIMEOUT = 20_000;
const LATE: Failure = {
  text: `connection: the CA has not answered within ${REQUEST_TIMEOUT / 1000} s`,
  isTransient: false,
};

/** Requests certificates until closed; does not wait for the first certificate. */
export class CaMaintenance implements Maintenance {
  readonly #end = new AbortController();
  readonly #running: Promise<void>;
  #key: PrivateKey | undefined;
  #held: Held | undefined;
  /** Why the last request failed; `undefined` after a success. */
  #failure: Failure | undefined;
  #outputFailure: string | undefined;

  constructor(
    private readonly world: World,
    private readonly options: IdentityOptions,
    private readonly store: CertificateStore,
  ) {
    this.#running = this.#maintain();
  }

  problem(): string | undefined {
    if (this.#end.signal.aborted) return undefined;
    const state = { failure: this.#failure, held: this.#held, outputFailure: this.#outputFailure };
    return problemText(state, this.options.authority.address, this.#moment().now);
  }

  async close(): Promise<void> {
    this.#end.abort();
    await this.#running;
  }

  async #maintain(): Promise<void> {
    const { signal } = this.#end;
    let retries = { tries: 0, rounds: 0 };
    while (!signal.aborted) {
      const failure = await this.#request();
      if (signal.aborted) return;
      const isNew = failure?.text !== this.#failure?.text;
      this.#failure = failure;
      if (failure === undefined) {
        retries = { tries: 0, rounds: 0 };
        await this.#untilDue();
        continue;
      }
      if (isNew) this.options.log.warning(logText(failure.text));
      const { milliseconds, ...after } = retryDelay({ ...retries, held: this.#held }, failure, this.#moment());
      retries = after;
      await this.world.clock.sleep(milliseconds, signal);
    }
  }

  #moment(): Moment {
    const { clock } = this.world;
    return { now: clock.now().getTime(), elapsed: clock.monotonic(), random: Math.random() };
  }

  /**
   * Sends one request, and stores the certificate. After a failure, the next request uses the same key, because
   * generating an RSA key takes time.
   */
  async #request(): Promise<Failure | undefined> {
    const { world, options, store } = this;
    const over = new AbortController();
    world.clock.sleep(REQUEST_TIMEOUT, over.signal).then(() => over.abort());
    const begin = world.clock.monotonic();
    const makeKey = async () => this.#key ??= await generateKey(options.key);
    const signal = AbortSignal.any([this.#end.signal, over.signal]);
    const outcome = await requestCertificate(world, options, makeKey, signal);
    const isLate = over.signal.aborted;
    const isFailed = signal.aborted || outcome.failure !== undefined;
    over.abort();
    const milliseconds = world.clock.monotonic() - begin;
    options.metrics?.certificateRequested({ milliseconds, isFailed, isRetry: this.#failure !== undefined });
    if (isLate) return LATE;
    if (outcome.failure !== undefined || this.#end.signal.aborted) return outcome.failure;
    this.#key = undefined;
    const { certificate, roots, leaf } = outcome.chain;
    logCertificate(options.log, leaf, options.spiffeId, world.clock.now().getTime());
    store.put({ certificate, key: options.isPkcs8 ? pkcs8Pem(outcome.key) : outcome.key.pem() }, roots);
    this.#held = dueAt(leaf, this.#moment(), options.renewal);
    return undefined;
  }

  /**
   * Writes the certificate's files, and waits until the certificate is due for renewal. Retries a failed write at least
   * once per second.
   */
  async #untilDue(): Promise<void> {
    await this.#write();
    const { signal } = this.#end;
    while (this.#held !== undefined && !isDue(this.#held, this.#moment())) {
      await this.world.clock.sleep(until(this.#held, this.#moment()), signal);
      if (signal.aborted) return;
      if (this.#outputFailure !== undefined) await this.#write();
    }
  }

  async #write(): Promise<void> {
    const { world, store, options: { outputFolder: folder, log } } = this;
    const [workload, roots] = [store.workload(), store.roots()];
    const before = this.#outputFailure;
    try {
      const isWanted = folder !== "" && workload !== undefined && roots !== undefined;
      if (isWanted) await writeOutput(world.files, folder, workload, roots);
      this.#outputFailure = undefined;
    } catch (error) {
      this.#outputFailure = outputProblem(folder, error);
      if (this.#outputFailure !== before) log.warning(logText(this.#outputFailure));
    }
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

async function generateKey(choice: IdentityOptions["key"]): Promise<PrivateKey> {
  return choice.type === "rsa" ? await makeRsaKey(choice.bits) : generateEcKey(choice.curve);
}
