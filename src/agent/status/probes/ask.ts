/** How the application is asked, in the way of the kubelet (kubernetes/pkg/probe), and what the kubelet is told. */
import { MeshError } from "../../../core/errors.ts";
import type { ExchangeAnswer, Network } from "../../../core/world/world.ts";
import type { Prober } from "./config.ts";
import { CHECK, healthRequest, healthStatus } from "./grpc_health.ts";
import { forwardedHeaders } from "./headers.ts";
import { followed } from "./redirects.ts";

/** An application that is asked. */
export interface Asked {
  readonly network: Network;
  /** An IP address or `localhost`. */
  readonly host: string;
  readonly source: string | undefined;
  readonly statusPort: number;
  /** Whether HTTP/2 is offered in TLS handshakes. */
  readonly isHttp2Offered: boolean;
  /** Of the kubelet. */
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

/** What the kubelet is told. */
export interface Told {
  readonly status: number;
  readonly body?: Uint8Array<ArrayBuffer>;
}

/** The kubelet reads no more of a body (maxRespBodyLength). */
const MAX_BODY = 10 * 1024;
const MAX_GRPC_BODY = 1024;

type Ask<Kind extends Prober["kind"]> = (asked: Asked, prober: Extract<Prober, { kind: Kind }>) => Promise<Told>;

/** Asks the application. Throws if it could not be asked, and for what tells that it is not well without a status. */
export function ask(asked: Asked, prober: Prober): Promise<Told> {
  switch (prober.kind) {
    case "http":
      return askHttp(asked, prober);
    case "tcp":
      return askTcp(asked, prober);
    case "grpc":
      return askGrpc(asked, prober);
  }
}

const askHttp: Ask<"http"> = async (asked, { port, path, isTls }) => {
  const url = `${isTls ? "https" : "http"}://${authority(asked.host, port)}${path}`;
  const headers = forwardedHeaders(asked.headers, asked.statusPort, port);
  const protocol = isTls && asked.isHttp2Offered ? "negotiated" : "http/1.1";
  const way = { method: "GET", protocol, maxBodyBytes: MAX_BODY, signal: asked.signal, ...fromSource(asked) } as const;
  const { status, body } = await followed(url, headers, (url, headers) => {
    return asked.network.exchange({ ...way, url, headers });
  });
  // A redirection needs a Location to go with it: the kubelet takes it for a success.
  return status >= 300 && status < 400 ? { status: 200 } : { status, body };
};

const askTcp: Ask<"tcp"> = async (asked, { port }) => {
  const { network, host: hostname, signal } = asked;
  const connection = await network.connect({ hostname, port, signal, ...fromSource(asked) });
  connection.close();
  return { status: 200 };
};

const askGrpc: Ask<"grpc"> = async (asked, { port, service }) => {
  const headers = new Headers({ "content-type": "application/grpc", te: "trailers", "accept-encoding": "identity" });
  headers.set("user-agent", asked.headers.get("user-agent") ?? "");
  const answer = await asked.network.exchange({
    method: "POST",
    url: `http://${authority(asked.host, port)}${CHECK}`,
    headers,
    body: healthRequest(service),
    protocol: "h2",
    maxBodyBytes: MAX_GRPC_BODY,
    signal: asked.signal,
    ...fromSource(asked),
  });
  const status = grpcStatus(answer);
  if (status !== "SERVING") throw new MeshError(`The service "${service}" is ${status}`);
  return { status: 200 };
};

function grpcStatus({ status, headers, body }: ExchangeAnswer): string {
  const code = headers.get("grpc-status") ?? "0";
  if (code === "12") throw new MeshError("The server does not implement the health protocol grpc.health.v1.Health");
  if (code !== "0") throw new MeshError(`The answer is the gRPC status ${code}: ${headers.get("grpc-message") ?? ""}`);
  if (status !== 200) throw new MeshError(`The answer is the HTTP status ${status}`);
  return healthStatus(body);
}

/** `net.JoinHostPort`. */
function authority(host: string, port: number): string {
  return host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;
}

function fromSource({ source }: Asked): { readonly source?: string } {
  return source === undefined ? {} : { source };
}
