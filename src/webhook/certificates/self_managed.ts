/** Certificates that the program keeps by itself, for `--self-managed-certs`. */
import type { KubeApi } from "../../core/kube/client/api.ts";
import { errorLine, MeshError, messageOf } from "../../core/errors.ts";
import { type Logger, logText } from "../../core/log.ts";
import type { Clock } from "../../core/world/world.ts";
import type { KeyPair } from "../../core/world/mod.ts";
import type { CertificateSource } from "../sources/source.ts";
import { CONFIGURATIONS, keepBundle, type WebhookService } from "./ca_bundle.ts";
import { certificatePem, serviceNames } from "./issue.ts";
import { bundleOf, type Material } from "./material.ts";
import { LIFETIMES, type Lifetimes } from "./renewal.ts";
import { agree, collectionOf } from "./secret_store.ts";

/** What the certificates are for, and where they are kept. */
export interface SelfManagedOptions {
  readonly api: KubeApi;
  readonly clock: Pick<Clock, "now" | "sleep">;
  readonly log: Logger;
  readonly service: WebhookService;
  /** The Secret, in the Service's namespace. */
  readonly secret: string;
  /** Names of the MutatingWebhookConfigurations whose caBundle is kept. */
  readonly configurations: readonly string[];
  /** `cluster.local` unless told. */
  readonly clusterDomain?: string;
  readonly lifetimes?: Lifetimes;
  /** From 0 to 1: when in its time this replica renews. By chance unless told. */
  readonly jitter?: number;
}

const MAX_PAUSE = 5 * 60_000;
/** However often things change, there is no more than a round in this time. */
const MIN_PAUSE = 1_000;
/** So many rounds in a row that had to mend a caBundle are no chance. */
const MANY_PATCHES = 4;
const FIRST_RETRY = 1_000;
const MAX_RETRY = 60_000;

/**
 * Starts to keep a serving certificate in force and the API server trusting it: at once, when the Secret or a
 * configuration changes, and every few minutes. What fails is tried again, ever more slowly; `problem` tells it.
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
  /** Rounds in a row that had to patch. */
  #patches = 0;
  /** Ends the pause between two rounds; it may come before the pause has begun. */
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
    this.#isReady.reject(new MeshError("The certificates are kept no longer"));
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

  /** Does what is due; returns the milliseconds until the next time. */
  async #round(): Promise<number> {
    try {
      const { serving } = this.#options.lifetimes ?? LIFETIMES;
      await this.#keep();
      this.#failures = 0;
      this.#tellProblem(undefined);
      return Math.min(MAX_PAUSE, serving / 50);
    } catch (error) {
      this.#tellProblem(error instanceof MeshError ? errorLine(error) : messageOf(error));
      return Math.min(MAX_RETRY, FIRST_RETRY * 2 ** Math.min(this.#failures++, 10)) * (0.75 + Math.random() / 2);
    }
  }

  /** The API server is told of an authority before a certificate of it is served, but a failure to do so stops nothing. */
  async #keep(): Promise<void> {
    const material = await this.#agree();
    if (this.#stop.signal.aborted) return;
    try {
      await this.#keepBundles(bundleOf(material));
    } finally {
      this.#serve(material);
    }
  }

  async #agree(): Promise<Material> {
    const { api, service, secret, clock, clusterDomain = "cluster.local", lifetimes = LIFETIMES } = this.#options;
    const { material, written } = await agree({ api, namespace: service.namespace, name: secret }, {
      dnsNames: serviceNames(service.name, service.namespace, clusterDomain),
      lifetimes,
      now: clock.now(),
      jitter: this.#jitter,
    });
    if (written !== undefined) {
      this.#options.log.info(`Secret ${service.namespace}/${secret} has new certificates: ${written}`);
    }
    return material;
  }

  /** All of them are tried; the first failure is told. */
  async #keepBundles(bundle: string): Promise<void> {
    const { api, service, configurations, log } = this.#options;
    let patched = 0;
    const results = await Promise.allSettled(configurations.map(async (name) => {
      const kept = await keepBundle(api, name, service, bundle);
      if (kept === "absent") throw absent(name);
      if (kept === "same") return;
      patched++;
      log.info(`MutatingWebhookConfiguration ${name} has got the caBundle of the certificates`);
    }));
    this.#patches = patched === 0 ? 0 : this.#patches + 1;
    for (const result of results) if (result.status === "rejected") throw result.reason;
    if (this.#patches >= MANY_PATCHES) throw contested(configurations);
  }

  #serve({ serving }: Material): void {
    const next = { certificate: certificatePem(serving.certificate), key: serving.key.pem() };
    if (this.#current?.certificate === next.certificate) return;
    this.#current = next;
    this.#isReady.resolve();
    this.#tellChange();
  }

  #tellProblem(problem: string | undefined): void {
    if (problem === this.#problem) return;
    this.#problem = problem;
    if (problem === undefined) this.#options.log.info("The certificates are kept again");
    else this.#options.log.warn(logText(problem));
    this.#tellChange();
  }

  #tellChange(): void {
    this.#handlers.forEach((handler) => handler());
  }

  /** Any change of an object begins a round; the round reads it. */
  async #watch(collection: string, name: string): Promise<void> {
    const { signal } = this.#stop;
    const query = { fieldSelector: `metadata.name=${name}` };
    const failed = (error: MeshError) => this.#options.log.debug(logText(errorLine(error)));
    for await (const _ of this.#options.api.watch(collection, query, signal, { failed })) this.#wake.abort();
  }
}

function absent(name: string): MeshError {
  return new MeshError(`There is no MutatingWebhookConfiguration "${name}": no pod is sent to this webhook`, {
    hint: 'apply what "kubectl mesh webhook manifests" prints',
  });
}

function contested(names: readonly string[]): MeshError {
  return new MeshError(
    `Another program keeps changing the caBundle of ${names.map((name) => `"${name}"`).join(", ")}`,
    {
      hint: 'an istiod of the same revision does; set INJECTION_WEBHOOK_CONFIG_NAME to "" in its environment',
    },
  );
}
