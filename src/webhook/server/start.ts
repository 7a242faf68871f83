/** The server of reviews over HTTPS, and what is told of it without. */
import { type Logger, logText } from "../../core/log.ts";
import { type Collector } from "../../core/metrics/mod.ts";
import type { HttpHandler, TlsServer, World } from "../../core/world/mod.ts";
import type { ReviewContext } from "../review/mod.ts";
import type { NamespaceUsers, ReviewPool } from "../workers/mod.ts";
import type { CertificateSource } from "../sources/source.ts";
import type { InjectorSource } from "../sources/injector_source.ts";
import { BODY_MILLISECONDS, CONNECTIONS, MAX_BODY_BYTES, MAX_BYTES_UNDER_WAY, MAX_REVIEWS } from "./limits.ts";
import { type ListenAddress, onFirst } from "./listen_address.ts";
import type { Check } from "./readiness.ts";
import { reviewHandler } from "./review_handler.ts";
import { type Route, router } from "./routes.ts";
import { serveNewest } from "./served_certificate.ts";
import { seconds, sourceMetrics } from "./source_metrics.ts";
import type { StatusServer } from "./status.ts";
import { gauge, type WebhookMetrics } from "./metrics.ts";

/** Where to listen. */
export interface Addresses {
  readonly listen: ListenAddress;
  readonly plainListen: ListenAddress;
}

/** Where comes from what reviews depend on. */
export interface Sources {
  readonly injector: InjectorSource;
  readonly certificate: CertificateSource;
  /** What is known of the cluster beside its configuration. */
  readonly cluster?: ClusterKnown | undefined;
}

/** What reviews depend on besides the configuration. */
export interface ClusterKnown extends Pick<ReviewContext, "proxyConfigs" | "namespace" | "nodes"> {
  /** As workers are told it; the same object as long as nothing has changed. */
  readonly namespaceUsers: NamespaceUsers;
}

/** Who answers reviews. */
export type Reviews = Pick<ReviewPool, "review" | "size" | "restarts">;

/** The server, running. */
export interface Servers {
  readonly tls: TlsServer;
  /** From now on it is not ready, for this reason. */
  end(reason: string): void;
}

/** What it is made of. */
export interface Parts {
  readonly sources: Sources;
  readonly pool: Reviews;
  readonly status: StatusServer;
}

/** Starts it. Rejects with a `MeshError` for an address that cannot be had and a certificate that cannot be used. */
export async function startServers(world: World, log: Logger, at: Addresses, parts: Parts): Promise<Servers> {
  const { sources, pool, status: { metrics, routes, depend, port: plainPort } } = parts;
  const state: State = { ending: undefined, certificate: () => sources.certificate.problem() };
  const reviews = reviewRoute(world, log, pool, metrics);
  const tls = await serveReviews(world, at.listen, sources.certificate, router([...reviews, ...routes], log));
  const served = serveNewest(tls, sources.certificate, { log, clock: world.clock });
  state.certificate = served.problem;
  for (const each of [...collectors(world, sources, served.notAfter), ...poolMetrics(pool)]) metrics.register(each);
  depend(checksOf(sources.injector, state));
  const until = served.notAfter().toISOString();
  log.info(logText(
    `Reviews are answered on port ${tls.port}, with a certificate that is valid until ${until}; the port for probes and ` +
      `metrics is ${plainPort}`,
  ));
  return { tls, end: (reason) => void (state.ending = reason) };
}

/** What readiness depends on. */
interface State {
  ending: string | undefined;
  certificate: () => string | undefined;
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
    limits: {
      bytes: MAX_BODY_BYTES,
      milliseconds: BODY_MILLISECONDS,
      reviews: MAX_REVIEWS,
      bytesUnderWay: MAX_BYTES_UNDER_WAY,
    },
    metrics,
    log,
    clock: world.clock,
  });
  return ["/inject", "/inject/"].map((path) => ({ path, answer }));
}

function checksOf(injector: InjectorSource, state: State): readonly Check[] {
  return [
    { name: "running", fine: "the webhook is not terminating", problem: () => state.ending, isTolerable: false },
    {
      name: "config",
      fine: "the newest configuration is in force",
      problem: () => injector.problem(),
      isTolerable: true,
    },
    {
      name: "certificate",
      fine: "the newest certificate is served",
      problem: () => state.certificate(),
      isTolerable: true,
    },
  ];
}

function collectors({ clock }: World, { injector, certificate }: Sources, notAfter: () => Date): readonly Collector[] {
  const expiry = "When the certificate that is served expires.";
  const name = "mesh_webhook_certificate_expiry_timestamp_seconds";
  return [
    () => gauge(name, expiry, seconds(notAfter())),
    ...sourceMetrics("config", injector, clock),
    ...sourceMetrics("certificate", certificate, clock),
  ];
}

function poolMetrics(pool: Reviews): readonly Collector[] {
  const restarts = "mesh_webhook_worker_restarts_total";
  return [
    () => gauge("mesh_webhook_workers", "Processes beside this one that answer reviews.", pool.size),
    () => [{
      name: restarts,
      help: "Such processes that ended.",
      type: "counter",
      samples: [{ value: pool.restarts }],
    }],
  ];
}
