/** The review server: HTTPS, its limits, readiness and metrics. */
import { type Logger, logText } from "../../core/log.ts";
import { type Collector } from "../../core/metrics/mod.ts";
import type { HttpHandler, TlsServer, World } from "../../core/world/mod.ts";
import type { ReviewContext } from "../review/pod_injection.ts";
import type { NamespaceUsers } from "../workers/messages.ts";
import type { ReviewPool } from "../workers/pool.ts";
import type { CertificateSource, InjectorSource } from "../sources/source.ts";
import { type Route, router } from "./http.ts";
import { type ListenAddress, onFirst } from "./listen_address.ts";
import { gauge, seconds, sourceMetrics, type WebhookMetrics } from "./metrics.ts";
import { reviewHandler } from "./review_handler.ts";
import { serveNewest } from "./served_certificate.ts";
import type { Check, StatusServer } from "./status.ts";

/** Limits of a review and of all reviews. */
const LIMITS = {
  /**
   * A request to the API server has at most 3 MiB (MaxRequestBodyBytes of k8s.io/apiserver), and a review of an update has
   * the object twice.
   */
  bytes: 8 * 1024 * 1024,
  /** Time for the body: the API server waits 10 s for an answer by default, at most 30 s. */
  milliseconds: 10_000,
  reviews: 1000,
  /** A pod has some KB, and large bodies would soon fill the container's memory. */
  bytesInFlight: 128 * 1024 * 1024,
};

/**
 * Limits of connections: an API server has a few. It keeps an idle connection for 90 s (Go's net/http), and pings one of
 * HTTP/2 every 30 s.
 */
const CONNECTIONS = { most: 2000, firstRequest: 15_000, silence: 180_000 } as const;

/** Where to listen. */
export interface Addresses {
  readonly listen: ListenAddress;
  readonly plainListen: ListenAddress;
}

/** The sources of what reviews depend on. */
export interface Sources {
  readonly injector: InjectorSource;
  readonly certificate: CertificateSource;
  readonly cluster?: ClusterSnapshot | undefined;
}

/** The observed state of the cluster, besides the configuration. */
export interface ClusterSnapshot extends Pick<ReviewContext, "proxyConfigs" | "namespace" | "nodes"> {
  /** For workers: the same object until it changes. */
  readonly namespaceUsers: NamespaceUsers;
}

/** The pool that answers reviews. */
export type Reviews = Pick<ReviewPool, "review" | "size" | "restarts">;

/** The running server. */
export interface Servers {
  readonly tls: TlsServer;
  /** Makes the server not ready, for this reason. */
  terminate(reason: string): void;
}

/** What the server needs. */
export interface Parts {
  readonly sources: Sources;
  readonly pool: Reviews;
  readonly status: StatusServer;
}

/** Starts the server. Rejects with a `MeshError` if it cannot listen, or for an unusable certificate. */
export async function startServers(world: World, log: Logger, at: Addresses, parts: Parts): Promise<Servers> {
  const { sources, pool, status: { metrics, routes, depend, port: plainPort } } = parts;
  let termination: string | undefined;
  const reviews = reviewRoute(world, log, pool, metrics);
  const tls = await serveReviews(world, at.listen, sources.certificate, router([...reviews, ...routes], log));
  const served = serveNewest(tls, sources.certificate, { log, clock: world.clock });
  for (const each of [...collectors(world, sources, served.notAfter), ...poolMetrics(pool)]) metrics.register(each);
  depend([
    check("running", "the webhook is not terminating", () => termination, false),
    check("config", "the newest configuration is in force", () => sources.injector.problem()),
    check("certificate", "the newest certificate is served", served.problem),
  ]);
  const until = served.notAfter().toISOString();
  log.info(logText(
    `Serving reviews on port ${tls.port}, certificate valid until ${until}; probes and metrics on port ${plainPort}`,
  ));
  return { tls, terminate: (reason) => void (termination = reason) };
}

function check(name: string, fine: string, problem: Check["problem"], isTolerable = true): Check {
  return { name, fine, problem, isTolerable };
}

function serveReviews(
  { network }: World,
  listen: ListenAddress,
  certificate: CertificateSource,
  handler: HttpHandler,
): Promise<TlsServer> {
  const options = { port: listen.port, keyPair: certificate.current(), limits: CONNECTIONS };
  return onFirst(listen, (hostname) => network.serveTls({ ...options, hostname }, handler));
}

function reviewRoute(world: World, log: Logger, pool: Reviews, metrics: WebhookMetrics): readonly Route[] {
  const answer = reviewHandler({
    review: (body, path) => pool.review(body, path),
    limits: LIMITS,
    metrics,
    log,
    clock: world.clock,
  });
  return ["/inject", "/inject/"].map((path) => ({ path, answer }));
}

function collectors({ clock }: World, { injector, certificate }: Sources, notAfter: () => Date): readonly Collector[] {
  const expiry = "mesh_webhook_certificate_expiry_timestamp_seconds";
  return [
    () => gauge(expiry, "When the served certificate expires.", seconds(notAfter())),
    ...sourceMetrics("config", injector, clock),
    ...sourceMetrics("certificate", certificate, clock),
  ];
}

function poolMetrics(pool: Reviews): readonly Collector[] {
  const restarts = { name: "mesh_webhook_worker_restarts_total", help: "Worker processes that ended." };
  return [
    () => gauge("mesh_webhook_workers", "Worker processes that answer reviews.", pool.size),
    () => [{ ...restarts, type: "counter", samples: [{ value: pool.restarts }] }],
  ];
}
