/** Self-managed certificates, for `--self-managed-certs`. */
import type { KubeApi } from "../../kube/client/api.ts";
import { errorLine, errorText, MeshError } from "../../base/errors.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { Clock } from "../../platform/world.ts";
import type { KeyPair } from "../../platform/mod.ts";
import type { CertificateSource } from "../sources/source.ts";
import { CONFIGURATIONS, keepBundle, type WebhookService } from "./ca_bundle.ts";
import { certificatePem, serviceNames } from "./issue.ts";
import { bundleOf, type CertificateSet } from "./certificate_set.ts";
import { LIFETIMES, type Lifetimes } from "./renewal.ts";
import { byWhom, ContestedError } from "./last_writer.ts";
import { agree, collectionOf, contestedSecret, type Known } from "./secret_store.ts";

export interface SelfManagedOptions {
  readonly api: KubeApi;
  readonly clock: Pick<Clock, "now" | "monotonic" | "sleep">;
  /** Returns the current time for issuing and renewing certificates. Default: the time of `clock`. */
  readonly now?: () => Promise<Date>;
  readonly log: Logger;
  readonly service: WebhookService;
  /** Name of the Secret, in the Service's namespace. */
  readonly secret: string;
  /** Names of the MutatingWebhookConfigurations that get the caBundle. */
  readonly configurations: readonly string[];
  readonly lifetimes?: Lifetimes;
  /** Delay of renewals in this replica, as a fraction of the maximum delay, from 0 to 1. Default: random. */
  readonly jitter?: number;
}

const MAX_PAUSE = 5 * 60_000;
/** Minimum milliseconds between two rounds. */
const MIN_PAUSE = 1_000;
/** After this many rounds with a change within `WHILE`, assume that another controller writes the same objects. */
const MANY_CHANGES = 5;
const WHILE = 10 * 60_000;
const FIRST_RETRY = 1_000;
const MAX_RETRY = 60_000;

/**
 * Keeps a valid serving certificate, and its CA in the caBundle. Runs a round at the start, after each change of the Secret or
 * a configuration, and every few minutes. Backs off after a failure, which `problem` reports.
 */
export function selfManagedCertificates(options: SelfManagedOptions): CertificateSource {
  return new Keeper(options);
}

class Keeper implements CertificateSource {
  readonly ready: Promise<void>;
  readonly #options: SelfManagedOptions;
  readonly #stop = new AbortController();
  readonly #handlers: (() => void)[] = [];
  readonly #jitter: number;
  readonly #isReady = Promise.withResolvers<void>();
  #current: KeyPair | undefined;
  #problem: string | undefined;
  #failures = 0;
  /** Times of rounds that changed something, in milliseconds of the monotonic clock, latest last. */
  readonly #changes: number[] = [];
  /** The error to report if too many rounds change something. */
  #contest: ContestedError | undefined;
  #known: Known | undefined;
  /** Aborted to skip the pause after the current round. */
  #wake = new AbortController();

  constructor(options: SelfManagedOptions) {
    this.ready = this.#isReady.promise;
    // Prevents an unhandled rejection if no caller awaits `ready`.
    this.ready.catch(() => {});
    this.#options = options;
    this.#jitter = options.jitter ?? Math.random();
    const { service, secret, configurations } = options;
    void this.#run();
    void this.#watch(collectionOf(service), secret);
    for (const name of configurations) void this.#watch(CONFIGURATIONS, name);
  }

  current(): KeyPair {
    if (this.#current === undefined) throw new MeshError("The serving certificate is not available yet");
    return this.#current;
  }

  problem(): string | undefined {
    return this.#problem;
  }

  onChange(handler: () => void): void {
    this.#handlers.push(handler);
  }

  close(): void {
    this.#stop.abort();
    this.#isReady.reject(new MeshError("The certificates are no longer managed"));
  }

  async #run(): Promise<void> {
    while (!this.#stop.signal.aborted) {
      this.#wake = new AbortController();
      const pause = await this.#round();
      if (this.#stop.signal.aborted) return;
      // If another program keeps writing, ignore its changes during the pause.
      const least = this.#isContested() ? pause : Math.min(pause, MIN_PAUSE);
      await this.#options.clock.sleep(least, this.#stop.signal);
      await this.#options.clock.sleep(pause - least, AbortSignal.any([this.#stop.signal, this.#wake.signal]));
    }
  }

  /** Runs a round. Returns the milliseconds until the next round. */
  async #round(): Promise<number> {
    try {
      const { serving } = this.#options.lifetimes ?? LIFETIMES;
      await this.#keep();
      this.#failures = 0;
      this.#setProblem(undefined);
      return Math.min(MAX_PAUSE, serving / 50);
    } catch (error) {
      this.#setProblem(errorText(error));
      return Math.min(MAX_RETRY, FIRST_RETRY * 2 ** Math.min(this.#failures++, 10)) * (0.75 + Math.random() / 2);
    }
  }

  /** Updates the caBundle before serving a certificate of a new CA. Serves the certificate even if the update fails. */
  async #keep(): Promise<void> {
    const certificates = await this.#agree();
    if (this.#stop.signal.aborted) return;
    try {
      await this.#keepBundles(bundleOf(certificates));
    } finally {
      this.#serve(certificates);
    }
    if (this.#isContested() && this.#contest !== undefined) throw this.#contest;
  }

  async #agree(): Promise<CertificateSet> {
    const { api, service, secret, clock, lifetimes = LIFETIMES } = this.#options;
    const store = { api, namespace: service.namespace, name: secret };
    const context = {
      dnsNames: serviceNames(service.name, service.namespace),
      lifetimes,
      now: await this.#options.now?.() ?? clock.now(),
      jitter: this.#jitter,
    };
    try {
      const { written, writer, ...known } = await agree(store, context, this.#known);
      this.#known = known;
      if (written !== undefined) {
        this.#options.log.info(`Secret ${service.namespace}/${secret} has new certificates: ${written}`);
        this.#hasChanged(contestedSecret(store, writer));
      }
      return known.certificates;
    } catch (error) {
      if (error instanceof ContestedError) this.#hasChanged(error);
      throw error;
    }
  }

  /** Updates all configurations. Rejects with the first failure after trying all. */
  async #keepBundles(bundle: string): Promise<void> {
    const { api, service, configurations, log } = this.#options;
    const writers: (string | undefined)[] = [];
    const results = await Promise.allSettled(configurations.map(async (name) => {
      const update = await keepBundle(api, name, service, bundle);
      if (update === undefined) return;
      writers.push(update.writer);
      log.info(`Updated the caBundle of MutatingWebhookConfiguration ${name}`);
    }));
    for (const result of results) if (result.status === "rejected") throw result.reason;
    if (writers.length > 0) this.#hasChanged(contestedBundle(configurations, writers[0]));
  }

  /** Records that a round changed something. `contest` is the error to report if too many rounds do. */
  #hasChanged(contest: ContestedError): void {
    this.#changes.push(this.#options.clock.monotonic());
    this.#contest = contest;
  }

  /** Whether too many of the latest rounds changed something. */
  #isContested(): boolean {
    const { clock, lifetimes = LIFETIMES } = this.#options;
    const since = clock.monotonic() - Math.min(WHILE, lifetimes.serving / 10);
    while ((this.#changes[0] ?? Infinity) < since) this.#changes.shift();
    return this.#changes.length >= MANY_CHANGES;
  }

  #serve({ serving }: CertificateSet): void {
    const next = { certificate: certificatePem(serving.certificate), key: serving.key.pem() };
    if (this.#current?.certificate === next.certificate) return;
    this.#current = next;
    this.#isReady.resolve();
    this.#notify();
  }

  #setProblem(problem: string | undefined): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    if (problem === undefined) this.#options.log.info("Managing the certificates again");
    else this.#options.log.warn(logText(problem));
    this.#notify();
  }

  #notify(): void {
    this.#handlers.forEach((handler) => handler());
  }

  /** Starts a round after each change of an object. */
  async #watch(collection: string, name: string): Promise<void> {
    const { signal } = this.#stop;
    const query = { fieldSelector: `metadata.name=${name}` };
    const failed = (error: MeshError) => this.#options.log.debug(logText(errorLine(error)));
    for await (const _ of this.#options.api.watch(collection, query, signal, { failed })) this.#wake.abort();
  }
}

function contestedBundle(names: readonly string[], writer: string | undefined): ContestedError {
  return new ContestedError(
    `Another program keeps changing the caBundle of ${names.map((name) => `"${name}"`).join(", ")}${byWhom(writer)}`,
    {
      hint:
        'if the other program is an istiod of the same revision, set INJECTION_WEBHOOK_CONFIG_NAME to "" in its environment',
    },
  );
}
