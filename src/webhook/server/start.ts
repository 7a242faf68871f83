/** The review server: HTTPS, its limits, readiness and metrics. */
import { type Logger, logText } from "../../platform/log.ts";
import type { TlsServer, World } from "../../platform/mod.ts";
import type { ConnectionLimits } from "../../platform/http.ts";
import type { CertificateSource, InjectorSource } from "../sources/source.ts";
import { router } from "../../platform/serving/http.ts";
import { type ListenAddress, onFirst } from "../../platform/serving/listen_address.ts";
import { gauge, seconds, sourceMetrics } from "./metrics.ts";
import { reviewHandler, type ReviewOptions } from "./review_handler.ts";
import { serveNewest } from "./served_certificate.ts";
import type { Check, StatusServer } from "./status.ts";

/** Limits of a review and of all reviews. */
const LIMITS = {
  /**
   * As istiod (pkg/kube/util.go). A request to the API server has at most 3 MiB (MaxRequestBodyBytes of k8s.io/apiserver); as
   * JSON those are 3 to 4 MiB, and 6 of quotes alone (docs/security.md).
   */
  bytes: 6 * 1024 * 1024,
  /** Time for the body: the API server waits 10 s for an answer by default, at most 30 s. */
  milliseconds: 10_000,
  /** The API server sends head and body together. */
  smallMilliseconds: 2000,
  /** A pod has a few KB, so a few large bodies at a time are enough. */
  bytesInFlight: 24 * 1024 * 1024,
  bodies: 512,
  bodiesOfAddress: 128,
  reviews: 1000,
  answerBytes: 16 * 1024 * 1024,
  answerMilliseconds: 10_000,
};

/**
 * Limits of connections: an API server has one for each review in flight, by default at most 200
 * (--max-mutating-requests-inflight), and keeps 25 idle ones for 90 s (client-go).
 */
const CONNECTIONS = {
  /** Each has some 100 KB. */
  most: 640,
  /** API servers may be behind one address. */
  mostOfAddress: 512,
  newOfAddress: 500,
  headBytes: 64 * 1024,
  firstRequest: 15_000,
  silence: 180_000,
} as const;

/** File descriptors of a connection: the client's, and both ends of two on loopback. */
const FILES_OF_CONNECTION = 5;
/** File descriptors for all else: the plain port, files, API servers. */
const OTHER_FILES = 160;

/** Limits connections to the available file descriptors: without a free one, nobody is served. */
function connectionsWith(openFiles = Infinity): ConnectionLimits {
  const most = Math.max(1, Math.floor((openFiles - OTHER_FILES) / FILES_OF_CONNECTION));
  return { ...CONNECTIONS, most: Math.min(CONNECTIONS.most, most) };
}

/** The running server. */
export interface ReviewServer {
  readonly tls: TlsServer;
  /** Makes the server not ready, for this reason. */
  terminate(reason: string): void;
}

/** What the server needs. */
export interface Parts {
  readonly listen: ListenAddress;
  readonly injector: InjectorSource;
  readonly certificate: CertificateSource;
  readonly review: ReviewOptions["review"];
  /** Its routes are served here too; it gets the conditions of readiness. */
  readonly status: StatusServer;
  /** Maximum file descriptors of this process; `undefined` if unknown. */
  readonly openFiles: number | undefined;
}

/** Starts the server. Rejects with a `MeshError` if it cannot listen, or for an unusable certificate. */
export async function startReviewServer(
  { clock, network }: World,
  log: Logger,
  { listen, injector, certificate, review, status, openFiles }: Parts,
): Promise<ReviewServer> {
  const { metrics, routes, depend, port: plainPort } = status;
  const answer = reviewHandler({ review, limits: LIMITS, metrics, log, clock });
  const handler = router([{ path: "/inject", answer }, { path: "/inject/", answer }, ...routes], log);
  const options = { port: listen.port, keyPair: certificate.current(), limits: connectionsWith(openFiles) };
  const tls = await onFirst(listen, (hostname) => network.serveTls({ ...options, hostname }, handler));
  const served = serveNewest(tls, certificate, { log, clock });
  const expiry = "mesh_webhook_certificate_expiry_timestamp_seconds";
  for (
    const collector of [
      () => gauge(expiry, "When the served certificate expires.", seconds(served.notAfter())),
      ...sourceMetrics("config", injector, clock),
      ...sourceMetrics("certificate", certificate, clock),
    ]
  ) metrics.register(collector);
  let termination: string | undefined;
  depend([
    check("running", "the webhook is not terminating", () => termination, false),
    check("config", "the newest configuration is in force", () => injector.problem()),
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
