/** The validated settings of a run. */
import type { Cidr } from "../../golang/net/mod.ts";

/** A range of ports, including both ends. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** Outbound ports that are not captured for these users. */
export interface PortsForUids {
  readonly protocol: "tcp" | "udp";
  /** Port ranges, or `"*"` for every port. */
  readonly ports: "*" | readonly PortRange[];
  /** User IDs, ranges (`1000-1999`) or user names. */
  readonly uids: readonly string[];
}

export type Mode = "generate" | "apply" | "clean" | "verify";

export type Direction = "inbound" | "outbound";

export type Required = "" | "both" | Direction;

export const OUTPUT_FORMATS = ["restore", "nft", "json", "commands", "table"] as const;
export type OutputFormat = typeof OUTPUT_FORMATS[number];

export interface CaptureSettings {
  readonly proxyPort: number;
  readonly inboundPort: number;
  readonly tunnelPort: number;
  /** User IDs, ranges or names of the proxy's users. */
  readonly proxyUids: readonly string[];
  readonly proxyGids: readonly string[];
  readonly mode: "REDIRECT" | "TPROXY";
  readonly mark: number;
  readonly routeTable: number;
  readonly inboundPorts: "*" | readonly PortRange[];
  readonly inboundPortsExclude: readonly PortRange[];
  readonly excludeInterfaces: readonly string[];
  readonly outboundCidrs: "*" | readonly Cidr[];
  readonly outboundCidrsExclude: readonly Cidr[];
  readonly outboundPorts: readonly PortRange[];
  readonly outboundPortsExclude: readonly PortRange[];
  readonly virtualInterfaces: readonly string[];
  /** Groups to capture, or `"*"` for every group. */
  readonly ownerGroups: "*" | readonly string[];
  readonly ownerGroupsExclude: readonly string[];
  readonly loopbackCidr: Cidr;
  readonly redirectDns: boolean;
  readonly captureAllDns: boolean;
  readonly dropInvalid: boolean;
  readonly dualStack: boolean;
  readonly excludeUids: readonly string[];
  readonly excludePortsForUids: readonly PortsForUids[];
}
