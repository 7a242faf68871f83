/** Questions that the table does not answer are asked of the servers of the machine. */
import { messageOf } from "../../../core/errors.ts";
import { type Logger, logText } from "../../../core/log.ts";
import type { Network } from "../../../core/world/world.ts";
import type { Tuning } from "../options.ts";
import type { Upstream } from "./resolv_conf.ts";
import { addressed, type AskContext, askTcp, askUdp } from "./ask.ts";
import { nameOf, type Query } from "../wire.ts";

/** How a question came, which is how it is passed on. */
export type Transport = "udp" | "tcp";

const ASK = { udp: askUdp, tcp: askTcp } as const;

/** What is needed to forward. */
export interface ForwardOptions extends Pick<Tuning, "upstreamPatience" | "mostForwarded" | "random"> {
  readonly network: Network;
  readonly isParallel: boolean;
  readonly log: Logger;
  /** Aborted at the end. */
  readonly signal: AbortSignal;
}

/** Asks others. */
export class Forwarder {
  /** Ports that questions are sent from now: what comes from one has gone in a circle. */
  readonly ports = new Set<number>();
  readonly #context: AskContext;
  /** Servers that did not answer last time, so that each failure is told once. */
  readonly #failing = new Set<string>();
  #underWay = 0;

  constructor(private readonly options: ForwardOptions) {
    this.#context = { network: options.network, ports: this.ports };
  }

  /** The answer of the first server that gives one; `undefined` if none does, or too many are being asked. */
  async ask(servers: readonly Upstream[], query: Query, transport: Transport): Promise<Uint8Array | undefined> {
    if (this.#underWay >= this.options.mostForwarded) return undefined;
    this.#underWay++;
    try {
      const order = shuffled(servers, this.options.random);
      const answer =
        await (this.options.isParallel ? this.#first(order, query, transport) : this.#next(order, query, transport));
      return answer === undefined ? undefined : addressed(answer, query);
    } finally {
      this.#underWay--;
    }
  }

  async #next(servers: readonly Upstream[], query: Query, transport: Transport): Promise<Uint8Array | undefined> {
    for (const server of servers) {
      const answer = await this.#one(server, query, transport, this.options.signal);
      if (answer !== undefined || this.options.signal.aborted) return answer;
    }
    return undefined;
  }

  async #first(servers: readonly Upstream[], query: Query, transport: Transport): Promise<Uint8Array | undefined> {
    const end = new AbortController();
    const signal = AbortSignal.any([this.options.signal, end.signal]);
    const answers = servers.map(async (server) => {
      const answer = await this.#one(server, query, transport, signal);
      if (answer === undefined) throw new Error("no answer");
      return answer;
    });
    return await Promise.any(answers).catch(() => undefined).finally(() => end.abort());
  }

  async #one(
    server: Upstream,
    query: Query,
    transport: Transport,
    outer: AbortSignal,
  ): Promise<Uint8Array | undefined> {
    const patience = new AbortController();
    const abort = () => patience.abort(outer.reason);
    const seconds = this.options.upstreamPatience / 1000;
    const timer = setTimeout(
      () => patience.abort(new Error(`there was no answer in ${seconds} s`)),
      this.options.upstreamPatience,
    );
    outer.addEventListener("abort", abort);
    if (outer.aborted) abort();
    try {
      const message = renumbered(query.bytes);
      const answer = await ASK[transport](this.#context, { server, query, message, signal: patience.signal });
      this.#failing.delete(server.host);
      return answer;
    } catch (error) {
      if (!outer.aborted) this.#tell(server, query, error);
      return undefined;
    } finally {
      clearTimeout(timer);
      outer.removeEventListener("abort", abort);
    }
  }

  /** The name that was asked for is told on the level debug alone. */
  #tell(server: Upstream, query: Query, error: unknown): void {
    const failed = `The DNS server ${server.host} does not answer`;
    if (!this.#failing.has(server.host)) {
      this.#failing.add(server.host);
      this.options.log.warning(
        logText(`${failed}: ${messageOf(error)}; it is asked on, and told of again when it has answered`),
      );
    } else this.options.log.debug(logText(`${failed} for "${nameOf(query.name)}": ${messageOf(error)}`));
  }
}

/** With a number that cannot be guessed. */
function renumbered(bytes: Uint8Array): Uint8Array {
  const message = bytes.slice();
  crypto.getRandomValues(message.subarray(0, 2));
  return message;
}

function shuffled<T>(items: readonly T[], random: () => number): readonly T[] {
  if (items.length < 2) return items;
  return items.map((item) => ({ item, key: random() })).sort((a, b) => a.key - b.key).map(({ item }) => item);
}
