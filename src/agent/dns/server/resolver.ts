/** Answers questions from the name table, from an upstream server, or with an error. Source: Istio's pkg/dns/client. */
import { type Collector, histogram, meter } from "../../../base/metrics/mod.ts";
import type { Clock } from "../../../platform/world.ts";
import { restoreQuestion } from "../upstream/ask.ts";
import { AnswerCache, cacheKey } from "../upstream/cache.ts";
import { errorAnswer, errorReply, tableAnswer, truncate } from "./answer.ts";
import type { Forwarder, Transport } from "../upstream/forward.ts";
import { find, type Lookup } from "./lookup.ts";
import type { ResolvConf, Upstream } from "../upstream/resolv_conf.ts";
import { type Query, RCODE, readQuery } from "../wire.ts";

const MAX_TCP_SIZE = 65_535;
const BOUNDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

export interface ResolverOptions {
  readonly forwarder: Forwarder;
  readonly conf: () => ResolvConf;
  readonly isOwn: (server: Upstream) => boolean;
  /**
   * Forward questions before the first table arrives: on port 53, this server is the only name server of the virtual
   * machine.
   */
  readonly answersBeforeTable: boolean;
  readonly onLoop: () => void;
  readonly random: () => number;
  readonly cacheBytes: number;
  readonly clock: Pick<Clock, "monotonic">;
}

export class Resolver {
  #lookup: Lookup | undefined;
  readonly #requests = meter("counter", "dns_requests_total", "Total number of DNS requests.");
  readonly #upstream = meter(
    "counter",
    "dns_upstream_requests_total",
    "Total number of DNS requests forwarded to upstream.",
  );
  readonly #failures = meter(
    "counter",
    "dns_upstream_failures_total",
    "Total number of DNS requests failed by upstream.",
  );
  readonly #seconds = histogram(
    "dns_upstream_request_duration_seconds",
    "Total time in seconds Istio takes to get DNS response from upstream.",
    BOUNDS,
  );

  readonly #hits = meter("counter", "dns_cache_hits_total", "Total number of DNS requests answered from the cache.");
  readonly #misses = meter(
    "counter",
    "dns_cache_misses_total",
    "Total number of DNS requests that the cache could have answered.",
  );
  readonly #cache: AnswerCache;
  /** The configuration that the cached answers belong to. */
  #conf: ResolvConf | undefined;

  constructor(private readonly options: ResolverOptions) {
    const { cacheBytes: maxBytes, clock, random } = options;
    this.#cache = new AnswerCache({ maxBytes, now: () => clock.monotonic(), random });
  }

  readonly collect: Collector = async () => {
    const all = [this.#requests, this.#upstream, this.#failures, this.#seconds, this.#hits, this.#misses];
    return (await Promise.all(all.map((each) => each.collect()))).flat();
  };

  use(lookup: Lookup): void {
    this.#lookup = lookup;
  }

  /**
   * Answers a message. Returns a promise if the question is forwarded, and `undefined` if the message gets no answer.
   * The caller may reuse a UDP message's buffer.
   */
  answer(message: Uint8Array, transport: Transport, remotePort: number): Uint8Array | undefined | Promise<Uint8Array> {
    const query = readQuery(message);
    if (query === undefined) return undefined;
    if (!("name" in query)) return errorReply(message, query.rcode);
    this.#requests.add();
    if (transport === "udp" && this.options.forwarder.ports.has(remotePort)) {
      // The agent's own question was captured: forwarding would loop.
      this.options.onLoop();
      return errorAnswer(query, RCODE.servFail);
    }
    const conf = this.options.conf();
    if (this.#lookup === undefined) {
      return this.options.answersBeforeTable
        ? this.#fromOthers(query, transport, conf)
        : errorAnswer(query, RCODE.servFail);
    }
    const found = find(this.#lookup, conf.search, query.name, query.type);
    if (found !== undefined) return tableAnswer(query, found, limitOf(query, transport), this.options.random);
    return this.#fromOthers(query, transport, conf);
  }

  /**
   * Answers from the cache or an upstream server. A new configuration clears the cache, because its servers may know
   * different names from the previous servers.
   */
  #fromOthers(query: Query, transport: Transport, conf: ResolvConf): Uint8Array | Promise<Uint8Array> {
    if (conf !== this.#conf) this.#cache.clear();
    this.#conf = conf;
    const key = cacheKey(query);
    if (key === undefined) return this.#forward(query, transport, conf, key);
    const known = this.#cache.find(key);
    (known === undefined ? this.#misses : this.#hits).add();
    if (known === undefined) return this.#forward(query, transport, conf, key);
    return truncate(restoreQuestion(known, query), query.questionEnd, limitOf(query, transport));
  }

  async #forward(
    received: Query,
    transport: Transport,
    conf: ResolvConf,
    key: string | undefined,
  ): Promise<Uint8Array> {
    const query = transport === "udp" ? { ...received, bytes: received.bytes.slice() } : received;
    const begin = this.options.clock.monotonic();
    this.#upstream.add();
    const others = conf.servers.filter((server) => !this.options.isOwn(server));
    const answer = await this.options.forwarder.ask(others, query, transport);
    this.#seconds.observe((this.options.clock.monotonic() - begin) / 1000);
    if (answer !== undefined) {
      if (key !== undefined && conf === this.#conf) this.#cache.put(key, answer, query);
      return truncate(answer, query.questionEnd, limitOf(query, transport));
    }
    this.#failures.add();
    return errorAnswer(query, RCODE.servFail);
  }
}

function limitOf({ udpSize }: Query, transport: Transport): number {
  return transport === "tcp" ? MAX_TCP_SIZE : udpSize;
}
