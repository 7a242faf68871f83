/** Requests between two pods, and the certificates that their proxies use meanwhile. */
import { isLong } from "../../../support/long.ts";
import { DEADLINE_MILLISECONDS, until } from "../../../support/until.ts";
import type { PodPair } from "./mesh.ts";
import type { RunningPod } from "./kubelet/kubelet.ts";
import { spiffe } from "./objects.ts";

/** Requests that are open at once, and the pause after each: other tests run beside a short run. */
const [CLIENTS, PAUSE_MILLISECONDS] = isLong() ? [4, 10] : [2, 40];
/** The pause between two reads of a proxy's certificates. */
const LOOK_MILLISECONDS = 200;

/** Counts of a load. */
export interface Counts {
  readonly requests: number;
  readonly failures: readonly string[];
  /** Certificates that the proxies have taken since the start, `a` and `b`. */
  readonly rotations: readonly [number, number];
}

/** Continuous requests, each on a new connection of the application. */
export class Load implements AsyncDisposable {
  #going = true;
  #requests = 0;
  readonly #failures: string[] = [];
  readonly #serials = [new Set<string>(), new Set<string>()] as const;
  readonly #running: Promise<unknown>;

  constructor(readonly pair: PodPair) {
    const watched = [pair.a, pair.b].map((pod, index) => this.#watch(pod, this.#serials[index] ?? new Set()));
    this.#running = Promise.all([...Array.from({ length: CLIENTS }, (_, first) => this.#ask(first)), ...watched]);
  }

  /** The counts so far. */
  counts(): Counts {
    const [a, b] = this.#serials.map(({ size }) => Math.max(0, size - 1));
    return { requests: this.#requests, failures: this.#failures, rotations: [a ?? 0, b ?? 0] };
  }

  /** Waits until both proxies have taken another certificate, and until more requests are answered. */
  async rotated(): Promise<void> {
    const before = this.counts().rotations;
    if (await this.rotates(DEADLINE_MILLISECONDS)) return await this.answered(20);
    throw new Error(`The proxies had taken ${before} certificates, now ${this.counts().rotations}`);
  }

  /** Whether both proxies take another certificate within this time. */
  async rotates(milliseconds: number): Promise<boolean> {
    const [a, b] = this.counts().rotations;
    const end = performance.now() + milliseconds;
    while (performance.now() < end) {
      const [nowA, nowB] = this.counts().rotations;
      if (nowA > a && nowB > b) return true;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    return false;
  }

  /** Waits until this many more requests were sent. */
  async answered(count: number): Promise<void> {
    const before = this.#requests;
    await until(() => this.#requests >= before + count, "No request is answered");
  }

  /** Waits for the requests in flight. */
  async stop(): Promise<Counts> {
    this.#going = false;
    await this.#running;
    return this.counts();
  }

  /** `b` must have seen the identity of `a`: its proxy passes it to the application. */
  async #ask(first: number): Promise<void> {
    const { a, urls } = this.pair;
    for (let turn = first; this.#going; turn++) {
      const { status, text } = await a.application.ask(urls[turn % urls.length] ?? "");
      this.#requests++;
      if (status !== 200 || !text.includes(`URI=${spiffe("a")}`)) {
        this.#failures.push(`${new Date().toISOString()} ${status} ${text}`);
      }
      if (PAUSE_MILLISECONDS > 0) await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
    }
  }

  async #watch(pod: RunningPod, serials: Set<string>): Promise<void> {
    while (this.#going) {
      for (const serial of await serialsOf(pod)) serials.add(serial);
      await new Promise((resolve) => setTimeout(resolve, LOOK_MILLISECONDS));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** The serial numbers of the certificates that the proxy presents. Source: Envoy's admin interface, `/certs`. */
export async function serialsOf(pod: RunningPod): Promise<string[]> {
  const { status, text } = await pod.application.ask("http://127.0.0.1:15000/certs");
  return status === 200
    ? [...text.matchAll(/"cert_chain":\s*\[\s*\{[^{}]*?"serial_number":\s*"(\w+)"/g)].map(([, serial = ""]) => serial)
    : [];
}
