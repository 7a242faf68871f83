/** Starts the review server, with its limits, readiness checks and metrics. */
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

/** Limits for one review and for all reviews. */
const LIMITS = {
  /**
   * Maximum bytes of a body, as in istiod (pkg/kube/util.go). A request to the API server has at most 3 MiB (k8s.io/apiserver,
   * MaxRequestBodyBytes). As JSON in a review, it has 3 to 4 MiB, or 6 MiB if it consists only of quotes (docs/security.md).
   */
  bytes: 6 * 1024 * 1024,
  /** Milliseconds for receiving a body. The API server waits 10 s for a response by default, and at most 30 s. */
  milliseconds: 10_000,
  /** Milliseconds for receiving a small body. The API server sends it together with the headers. */
  smallMilliseconds: 2000,
  /** Maximum bytes of all bodies. A pod has a few KB, so this allows only a few large bodies at a time. */
  bytesInFlight: 24 * 1024 * 1024,
  bodies: 512,
  bodiesOfAddress: 128,
  reviews: 1000,
  answerBytes: 16 * 1024 * 1024,
  answerMilliseconds: 10_000,
};

/**
 * Limits for connections. An API server opens one for each review in flight, by default at most 200
 * (--max-mutating-requests-inflight), and keeps 25 idle connections for 90 s (client-go).
 */
const CONNECTIONS = {
  /** Maximum number of connections. Each one needs about 100 KB. */
  most: 640,
  /** Maximum number of connections from one address. Several API servers may share an address. */
  mostOfAddress: 512,
  newOfAddress: 500,
  headBytes: 64 * 1024,
  firstRequest: 15_000,
  silence: 180_000,
} as const;

/** File descriptors for one connection: the client's socket, and both ends of two loopback connections. */
const FILES_OF_CONNECTION = 5;
/** File descriptors for other purposes: the plain HTTP port, files, connections to API servers. */
const OTHER_FILES = 160;

/** Limits connections by the available file descriptors: without free ones, the server cannot accept any connection. */
function connectionsWith(openFiles = Infinity): ConnectionLimits {
  const most = Math.max(1, Math.floor((openFiles - OTHER_FILES) / FILES_OF_CONNECTION));
  return { ...CONNECTIONS, most: Math.min(CONNECTIONS.most, most) };
}

export interface ReviewServer {
  readonly tls: TlsServer;
  /** Makes the server report that it is not ready. `reason` is shown by `/ready`. */
  terminate(reason: string): void;
}

export interface Parts {
  readonly listen: ListenAddress;
  readonly injector: InjectorSource;
  readonly certificate: CertificateSource;
  readonly review: ReviewOptions["review"];
  /** The status server. The review server serves the same routes, and registers readiness checks at the status server. */
  readonly status: StatusServer;
  /** Maximum number of file descriptors of this process; `undefined` if unknown. */
  readonly openFiles: number | undefined;
}

/** Starts the server. Rejects with a `MeshError` if it cannot listen or the certificate is unusable. */
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
      () => gauge(expiry, "Expiry time of the served certificate, in seconds since 1970.", seconds(served.notAfter())),
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
