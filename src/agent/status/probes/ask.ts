/** Probes the application as the kubelet does (kubernetes/pkg/probe). */
import { MeshError } from "../../../base/errors.ts";
import type { ExchangeAnswer, Network } from "../../../platform/world.ts";
import type { Prober } from "./config.ts";
import { joinHostPort, splitHostPort } from "../../../golang/net/mod.ts";

export interface ProbeTarget {
  readonly network: Network;
  /** An IP address or `localhost`. */
  readonly host: string;
  readonly source: string | undefined;
  readonly statusPort: number;
  /** Whether the TLS handshake offers HTTP/2. */
  readonly isHttp2Offered: boolean;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

export interface ProbeResult {
  readonly status: number;
  readonly body?: Uint8Array<ArrayBuffer>;
}

/** Maximum size of a body in bytes: the kubelet's limit (maxRespBodyLength). */
const MAX_BODY = 10 * 1024;
const MAX_GRPC_BODY = 1024;

type Of<Kind extends Prober["kind"]> = Extract<Prober, { kind: Kind }>;

/** Probes the application. Throws if the request fails, or if a gRPC service does not report SERVING. */
export function ask(target: ProbeTarget, prober: Prober): Promise<ProbeResult> {
  if (prober.kind === "http") return askHttp(target, prober);
  return prober.kind === "tcp" ? askTcp(target, prober) : askGrpc(target, prober);
}

async function askHttp(target: ProbeTarget, { port, path, isTls }: Of<"http">): Promise<ProbeResult> {
  const url = `${isTls ? "https" : "http"}://${joinHostPort(target.host, port)}${path}`;
  const headers = forwardedHeaders(target.headers, target.statusPort, port);
  const protocol = isTls && target.isHttp2Offered ? "negotiated" : "http/1.1";
  const options = {
    method: "GET",
    protocol,
    maxBodyBytes: MAX_BODY,
    signal: target.signal,
    ...fromSource(target),
  } as const;
  const { status, body } = await followRedirects(url, headers, (url, headers) => {
    return target.network.exchange({ ...options, url, headers });
  });
  // The kubelet treats a redirect without Location as success.
  return status >= 300 && status < 400 ? { status: 200 } : { status, body };
}

async function askTcp(target: ProbeTarget, { port }: Of<"tcp">): Promise<ProbeResult> {
  const { network, host, signal } = target;
  const connection = await network.dial({ host, port, signal, tls: undefined, ...fromSource(target) });
  connection.close();
  return { status: 200 };
}

async function askGrpc(target: ProbeTarget, { port, service }: Of<"grpc">): Promise<ProbeResult> {
  // Imported lazily: loading the protobuf library must not delay the status server.
  const { CHECK, healthRequest, healthStatus } = await import("./grpc_health.ts");
  const headers = new Headers({ "content-type": "application/grpc", te: "trailers", "accept-encoding": "identity" });
  headers.set("user-agent", target.headers.get("user-agent") ?? "");
  const answer = await target.network.exchange({
    method: "POST",
    url: `http://${joinHostPort(target.host, port)}${CHECK}`,
    headers,
    body: healthRequest(service),
    protocol: "h2",
    maxBodyBytes: MAX_GRPC_BODY,
    signal: target.signal,
    ...fromSource(target),
  });
  checkGrpcStatus(answer);
  const status = healthStatus(answer.body);
  if (status !== "SERVING") throw new MeshError(`The service "${service}" is ${status}`);
  return { status: 200 };
}

/** Throws a `MeshError` unless the gRPC call succeeded. */
function checkGrpcStatus({ status, headers }: ExchangeAnswer): void {
  const code = headers.get("grpc-status") ?? "0";
  if (code === "12") throw new MeshError("The server does not implement the health protocol grpc.health.v1.Health");
  if (code !== "0") {
    throw new MeshError(`The server returned the gRPC status ${code}: ${headers.get("grpc-message") ?? ""}`);
  }
  if (status !== 200) throw new MeshError(`The server returned the HTTP status ${status}`);
}

function fromSource({ source }: ProbeTarget): { readonly source?: string } {
  return source === undefined ? {} : { source };
}

const HOP_HEADERS = [
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
];

/**
 * Returns the headers for the application. Replaces the agent's port in Host with the application's port. Closes the
 * connection, as the kubelet does.
 */
export function forwardedHeaders(incoming: Headers, statusPort: number, port: number): Headers {
  const headers = new Headers(incoming);
  for (const name of HOP_HEADERS) headers.delete(name);
  headers.set("connection", "close");
  if (!headers.has("accept-encoding")) headers.set("accept-encoding", "identity");
  const parts = splitHostPort(headers.get("host") ?? "");
  if (typeof parts === "string" || Number(parts.port) !== statusPort) return headers;
  headers.set("host", joinHostPort(parts.host, port));
  return headers;
}

/** Status codes of redirects (Go's net/http: redirectBehavior). */
const REDIRECTIONS = [301, 302, 303, 307, 308];
const MAX_REQUESTS = 10;

/**
 * Follows redirects as the kubelet does: to the same host, in at most ten requests. Throws a `MeshError` for too many
 * redirects or an invalid Location.
 */
async function followRedirects(
  start: string,
  headers: Headers,
  ask: (url: string, headers: Headers) => Promise<ExchangeAnswer>,
): Promise<ExchangeAnswer> {
  let url = new URL(start);
  for (let requests = 1;; requests++) {
    const answer = await ask(url.href, headers);
    const location = REDIRECTIONS.includes(answer.status) ? answer.headers.get("location") ?? "" : "";
    if (location === "") return answer;
    const next = resolve(location, url);
    if (next.hostname !== url.hostname) return answer;
    if (requests >= MAX_REQUESTS) throw new MeshError(`The application redirected ${MAX_REQUESTS} times`);
    if (URL.canParse(location)) headers.set("host", next.host);
    url = next;
  }
}

function resolve(location: string, base: URL): URL {
  if (!URL.canParse(location, base)) throw new MeshError(`The application redirects to an invalid URL "${location}"`);
  return new URL(location, base);
}
