import type { GrpcChannel, GrpcEndpoint } from "../grpc/mod.ts";
import type { Logger } from "../../platform/log.ts";
import type { ValueMap } from "../../base/value.ts";

export interface DnsSettings {
  /** Only sidecars serve DNS: with DNS capture, or when enabled explicitly. */
  readonly isServed: boolean;
  /** `host:port`. */
  readonly address: string;
  /** Ask all upstream servers at once, not one after the other. */
  readonly isParallel: boolean;
  /** Timeout of an upstream server, in milliseconds. */
  readonly upstreamTimeout: number;
}

export interface TableNode {
  readonly id: string;
  readonly cluster: string;
  readonly metadata: ValueMap;
  readonly locality: { readonly region: string; readonly zone: string; readonly subZone: string };
}

export interface TableOptions {
  readonly node: TableNode;
  /** Delta xDS instead of state of the world. */
  readonly isDelta: boolean;
  /** Called for each connection: certificate and roots may have changed. */
  readonly endpoint: () => GrpcEndpoint | Promise<GrpcEndpoint>;
  /** The token file, read for each connection; `""` for none. */
  readonly tokenFile: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Opens the channel; default: `openChannel` of the world's network. */
  readonly open?: (endpoint: GrpcEndpoint) => GrpcChannel;
}

/** Where the proxy is: short names resolve in its namespace and domain. */
export interface ProxyDomain {
  readonly namespace: string;
  /** Such as `ns.svc.cluster.local`. */
  readonly domain: string;
}

export interface ServerOptions extends Pick<DnsSettings, "address" | "isParallel" | "upstreamTimeout">, ProxyDomain {
  readonly log: Logger;
  readonly tuning?: Partial<Tuning>;
}

export interface DnsOptions extends ServerOptions {
  readonly table: TableOptions;
}

/** Values for tests. */
export interface Tuning {
  readonly resolvConf: string;
  readonly upstreamPort: number;
  /** Maximum of forwarded questions in flight; further ones get SERVFAIL. */
  readonly maxForwarded: number;
  /** Memory for answers of other servers, in bytes. */
  readonly cacheBytes: number;
  /** In milliseconds, for a TCP connection. */
  readonly idle: number;
  readonly random: () => number;
}

/** The idle timeout is miekg/dns's. Each forwarded question takes a file descriptor. */
export const TUNING: Tuning = {
  resolvConf: "/etc/resolv.conf",
  upstreamPort: 53,
  maxForwarded: 512,
  cacheBytes: 512 * 1024,
  idle: 8000,
  random: Math.random,
};
