import type { GrpcEndpoint, grpcStream } from "../grpc/mod.ts";
import type { Logger } from "../../platform/log.ts";
import type { ValueMap } from "../../base/value.ts";

export interface DnsSettings {
  /** Whether DNS is served: only in sidecars, with DNS capture or when enabled explicitly. */
  readonly isServed: boolean;
  /** `host:port`. */
  readonly address: string;
  /** Query all upstream servers in parallel instead of one after another. */
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
  /** Called for each connection, because certificate and roots may have changed. */
  readonly endpoint: () => GrpcEndpoint | Promise<GrpcEndpoint>;
  /** Path of the token file, which is read for each connection; `""` if no token is used. */
  readonly tokenFile: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Replaces the stream in tests. */
  readonly open?: typeof grpcStream;
}

/** Namespace and domain in which the proxy resolves short names. */
export interface ProxyDomain {
  readonly namespace: string;
  /** For example `ns.svc.cluster.local`. */
  readonly domain: string;
}

export interface ServerOptions extends Pick<DnsSettings, "address" | "isParallel" | "upstreamTimeout">, ProxyDomain {
  readonly log: Logger;
  readonly tuning?: Partial<Tuning>;
}

export interface DnsOptions extends ServerOptions {
  readonly table: TableOptions;
}

/** Settings that tests can override. */
export interface Tuning {
  readonly resolvConf: string;
  readonly upstreamPort: number;
  /** Maximum number of forwarded questions in flight; further questions get SERVFAIL. */
  readonly maxForwarded: number;
  /** Size of the cache for upstream answers, in bytes. */
  readonly cacheBytes: number;
  /** Idle timeout of a TCP connection, in milliseconds. */
  readonly idle: number;
  readonly random: () => number;
}

/** Default settings. The idle timeout is from miekg/dns. Each forwarded question uses a file descriptor. */
export const TUNING: Tuning = {
  resolvConf: "/etc/resolv.conf",
  upstreamPort: 53,
  maxForwarded: 512,
  cacheBytes: 512 * 1024,
  idle: 8000,
  random: Math.random,
};
