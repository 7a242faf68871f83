/** Self-managed certificates, for `--self-managed-certs`. */
import type { KubeApi } from "../../core/kube/client/api.ts";
import { errorLine, errorText, MeshError } from "../../core/errors.ts";
import { type Logger, logText } from "../../core/log.ts";
import type { Clock } from "../../core/world/world.ts";
import type { KeyPair } from "../../core/world/mod.ts";
import type { CertificateSource } from "../sources/source.ts";
import { CONFIGURATIONS, keepBundle, type WebhookService } from "./ca_bundle.ts";
import { certificatePem, serviceNames } from "./issue.ts";
import { bundleOf, type CertificateSet } from "./certificate_set.ts";
import { LIFETIMES, type Lifetimes } from "./renewal.ts";
import { agree, collectionOf } from "./secret_store.ts";

/** The Service, the Secret and the configurations. */
export interface SelfManagedOptions {
  readonly api: KubeApi;
  readonly clock: Pick<Clock, "now" | "sleep">;
  readonly log: Logger;
  readonly service: WebhookService;
  /** The Secret, in the Service's namespace. */
  readonly secret: string;
  /** Names of the MutatingWebhookConfigurations that get the caBundle. */
  readonly configurations: readonly string[];
  /** By default `cluster.local`. */
  readonly clusterDomain?: string;
  readonly lifetimes?: Lifetimes;
  /** From 0 to 1: the delay of renewals in this replica. Random by default. */
  readonly jitter?: number;
}

const MAX_PAUSE = 5 * 60_000;
/** At most one round in this time. */
const MIN_PAUSE = 1_000;
/** After this many consecutive repairs, assume that another controller writes the caBundle. */
const MANY_PATCHES = 4;
const FIRST_RETRY = 1_000;
const MAX_RETRY = 60_000;

/**
 * Keeps a serving certificate in force and its authority in the caBundle: at once, after changes of the Secret or a
 * configuration, and every few minutes. Backs off after a failure, which `problem` tells.
 */
export function selfManagedCertificates(options: SelfManagedOptions): CertificateSource {
  const keeper = new Keeper(options);
  keeper.start();
  return keeper;
}

class Keeper implements CertificateSource {
  readonly ready: Promise<void>;
  readonly #options: SelfManagedOptions;
  readonly #stop = new AbortController();
  readonly #handlers: (() => void)[] = [];
  readonly #jitter: number;
  #isReady: { resolve(): void; reject(error: MeshError): void };
  #current: KeyPair | undefined;
  #problem: string | undefined;
  #failures = 0;
  /** Consecutive rounds that patched. */
  #patches = 0;
  /** Ends the pause between two rounds, also before it starts. */
  #wake = new AbortController();

  constructor(options: SelfManagedOptions) {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // Who does not wait for it shall not fall over a rejection.
    promise.catch(() => {});
    this.ready = promise;
    this.#isReady = { resolve, reject };
    this.#options = options;
    this.#jitter = options.jitter ?? Math.random();
  }

  start(): void {
    const { service, secret, configurations } = this.#options;
    void this.#run();
    void this.#watch(collectionOf(service), secret);
    for (const name of configurations) void this.#watch(CONFIGURATIONS, name);
  }

  current(): KeyPair {
    if (this.#current === undefined) throw new MeshError("There is no serving certificate yet");
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
      const least = this.#patches >= MANY_PATCHES ? pause : Math.min(pause, MIN_PAUSE);
      await this.#options.clock.sleep(least, this.#stop.signal);
      await this.#options.clock.sleep(pause - least, AbortSignal.any([this.#stop.signal, this.#wake.signal]));
    }
  }

  /** Runs a round; returns the milliseconds until the next one. */
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

  /** Updates the caBundle before it serves a certificate of a new authority; serves it even if that fails. */
  async #keep(): Promise<void> {
    const certificates = await this.#agree();
    if (this.#stop.signal.aborted) return;
    try {
      await this.#keepBundles(bundleOf(certificates));
    } finally {
      this.#serve(certificates);
    }
  }

  async #agree(): Promise<CertificateSet> {
    const { api, service, secret, clock, clusterDomain = "cluster.local", lifetimes = LIFETIMES } = this.#options;
    const { certificates, written } = await agree({ api, namespace: service.namespace, name: secret }, {
      dnsNames: serviceNames(service.name, service.namespace, clusterDomain),
      lifetimes,
      now: clock.now(),
      jitter: this.#jitter,
    });
    if (written !== undefined) {
      this.#options.log.info(`Secret ${service.namespace}/${secret} has new certificates: ${written}`);
    }
    return certificates;
  }

  /** Tries all configurations; rejects with the first failure. */
  async #keepBundles(bundle: string): Promise<void> {
    const { api, service, configurations, log } = this.#options;
    let patched = 0;
    const results = await Promise.allSettled(configurations.map(async (name) => {
      const kept = await keepBundle(api, name, service, bundle);
      if (kept === "absent") throw absent(name);
      if (kept === "same") return;
      patched++;
      log.info(`Updated the caBundle of MutatingWebhookConfiguration ${name}`);
    }));
    this.#patches = patched === 0 ? 0 : this.#patches + 1;
    for (const result of results) if (result.status === "rejected") throw result.reason;
    if (this.#patches >= MANY_PATCHES) throw contested(configurations);
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

function absent(name: string): MeshError {
  return new MeshError(
    `MutatingWebhookConfiguration "${name}" does not exist: the API server does not call this webhook`,
    {
      hint: 'Apply the output of "kubectl mesh webhook manifests"',
    },
  );
}

function contested(names: readonly string[]): MeshError {
  return new MeshError(
    `Another program keeps changing the caBundle of ${names.map((name) => `"${name}"`).join(", ")}`,
    {
      hint: 'An istiod of the same revision does: set INJECTION_WEBHOOK_CONFIG_NAME to "" in its environment',
    },
  );
}
