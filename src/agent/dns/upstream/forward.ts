/** Forwards questions that the name table does not answer to the name servers in resolv.conf. */
import { messageOf } from "../../../base/errors.ts";
import { type Logger, logText } from "../../../platform/log.ts";
import type { Network } from "../../../platform/world.ts";
import type { DnsSettings, Tuning } from "../options.ts";
import type { Upstream } from "./resolv_conf.ts";
import { type AskContext, askTcp, askUdp, restoreQuestion } from "./ask.ts";
import { nameOf, type Query } from "../wire.ts";

export type Transport = "udp" | "tcp";

const ASK = { udp: askUdp, tcp: askTcp } as const;

export interface ForwardOptions
  extends Pick<Tuning, "maxForwarded" | "random">, Pick<DnsSettings, "isParallel" | "upstreamTimeout"> {
  readonly network: Network;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

export class Forwarder {
  /** Source ports in use. A question from one of these ports is the agent's own. */
  readonly ports = new Set<number>();
  readonly #context: AskContext;
  /** Servers whose last question failed, to warn only once about each server. */
  readonly #failing = new Set<string>();
  #inFlight = 0;

  constructor(private readonly options: ForwardOptions) {
    this.#context = { network: options.network, ports: this.ports };
  }

  /** Forwards a question. Resolves with `undefined` if no server answers, or if too many questions are in flight. */
  async ask(servers: readonly Upstream[], query: Query, transport: Transport): Promise<Uint8Array | undefined> {
    if (this.#inFlight >= this.options.maxForwarded) return undefined;
    this.#inFlight++;
    try {
      const order = shuffled(servers, this.options.random);
      const answer = await (this.options.isParallel
        ? this.#parallel(order, query, transport)
        : this.#sequential(order, query, transport));
      return answer === undefined ? undefined : restoreQuestion(answer, query);
    } finally {
      this.#inFlight--;
    }
  }

  async #sequential(servers: readonly Upstream[], query: Query, transport: Transport): Promise<Uint8Array | undefined> {
    for (const server of servers) {
      const answer = await this.#askOne(server, query, transport, this.options.signal);
      if (answer !== undefined || this.options.signal.aborted) return answer;
    }
    return undefined;
  }

  async #parallel(servers: readonly Upstream[], query: Query, transport: Transport): Promise<Uint8Array | undefined> {
    const end = new AbortController();
    const signal = AbortSignal.any([this.options.signal, end.signal]);
    const answers = servers.map(async (server) => {
      const answer = await this.#askOne(server, query, transport, signal);
      if (answer === undefined) throw new Error("no answer");
      return answer;
    });
    return await Promise.any(answers).catch(() => undefined).finally(() => end.abort());
  }

  async #askOne(
    server: Upstream,
    query: Query,
    transport: Transport,
    outer: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    const timeout = new AbortController();
    const abort = () => timeout.abort(outer.reason);
    const seconds = this.options.upstreamTimeout / 1000;
    const timer = setTimeout(
      () => timeout.abort(new Error(`no answer in ${seconds} s`)),
      this.options.upstreamTimeout,
    );
    outer.addEventListener("abort", abort);
    if (outer.aborted) abort();
    try {
      const message = withRandomId(query.bytes);
      const answer = await ASK[transport](this.#context, { server, query, message, signal: timeout.signal });
      this.#failing.delete(server.host);
      return answer;
    } catch (error) {
      if (!outer.aborted) this.#logFailure(server, query, error);
      return undefined;
    } finally {
      clearTimeout(timer);
      outer.removeEventListener("abort", abort);
    }
  }

  /** Logs a failure. The name in question appears at debug level only. */
  #logFailure(server: Upstream, query: Query, error: unknown): void {
    const failed = `The DNS server ${server.host} does not answer`;
    if (!this.#failing.has(server.host)) {
      this.#failing.add(server.host);
      this.options.log.warning(
        logText(`${failed}: ${messageOf(error)}; further failures are logged at debug level until it answers`),
      );
    } else this.options.log.debug(logText(`${failed} for "${nameOf(query.name)}": ${messageOf(error)}`));
  }
}

function withRandomId(bytes: Uint8Array): Uint8Array {
  const message = bytes.slice();
  crypto.getRandomValues(message.subarray(0, 2));
  return message;
}

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  if (items.length < 2) return items;
  return items.map((item) => ({ item, key: random() })).sort((a, b) => a.key - b.key).map(({ item }) => item);
}
