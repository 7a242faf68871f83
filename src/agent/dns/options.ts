/** What the DNS server is made from. */
import type { GrpcChannel, GrpcEndpoint } from "../../core/grpc/mod.ts";
import type { Logger } from "../../core/log.ts";
import type { ValueMap } from "../../core/value.ts";
import type { Surroundings } from "./server/lookup.ts";

/** Where it serves, and how it asks others. */
export interface DnsSettings {
  /** Only a sidecar has a DNS server, if its traffic is captured or it is asked for. */
  readonly isServed: boolean;
  /** `host:port`. */
  readonly address: string;
  /** All servers are asked at once, not one after the other. */
  readonly isParallel: boolean;
}

/** Who asks for the name table. */
export interface TableNode {
  readonly id: string;
  readonly cluster: string;
  readonly metadata: ValueMap;
  readonly locality: { readonly region: string; readonly zone: string; readonly subZone: string };
}

/** Whom the name table is asked of. */
export interface TableOptions {
  readonly node: TableNode;
  /** The stream of differences (delta), not the one of whole states. */
  readonly isDelta: boolean;
  /** The control plane as it is now: certificates and roots may be others at the next connection. */
  readonly endpoint: () => GrpcEndpoint | Promise<GrpcEndpoint>;
  /** The file of the token, read anew at each connection; `""` for none. */
  readonly tokenFile: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Opens the channel; `openChannel` of the world's network unless told. */
  readonly open?: (endpoint: GrpcEndpoint) => GrpcChannel;
}

/** How questions are answered. */
export interface ServerOptions extends Pick<DnsSettings, "address" | "isParallel">, Surroundings {
  readonly log: Logger;
  /** What tests change. */
  readonly tuning?: Partial<Tuning>;
}

export interface DnsOptions extends ServerOptions {
  readonly table: TableOptions;
}

/** Numbers that nobody has to choose. */
export interface Tuning {
  readonly resolvConf: string;
  /** The port of other servers. */
  readonly upstreamPort: number;
  /** How long one of them is waited for, in milliseconds. */
  readonly upstreamPatience: number;
  /** Questions that are with other servers at once; more get SERVFAIL. */
  readonly mostForwarded: number;
  /** How long a TCP connection may be silent, in milliseconds. */
  readonly idle: number;
  readonly random: () => number;
}

/** Idle time as in miekg/dns, patience as in Istio; each forwarded question takes a file. */
export const TUNING: Tuning = {
  resolvConf: "/etc/resolv.conf",
  upstreamPort: 53,
  upstreamPatience: 5000,
  mostForwarded: 512,
  idle: 8000,
  random: Math.random,
};
