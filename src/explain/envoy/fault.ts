/** Reads injected faults (envoy/extensions/filters/http/fault/v3). */
import { mapAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import { type HeaderMatch, headerMatchesAt } from "./matchers.ts";
import { millisecondsAt, numberAt, readAt, readFraction } from "./message.ts";

export interface Fault {
  readonly abort: { readonly status: number; readonly share: number } | undefined;
  readonly delay: { readonly milliseconds: number; readonly share: number } | undefined;
  /** Limits the fault to this cluster; empty: all clusters. */
  readonly cluster: string;
  readonly headers: readonly HeaderMatch[];
  /** Limits the fault to requests from these nodes; empty: all nodes. */
  readonly nodes: readonly string[];
}

export function readFault(fault: ValueMap): Fault {
  const delay = mapAt(fault, "delay");
  const milliseconds = millisecondsAt(delay, "fixed_delay");
  return {
    abort: readAt(fault, "abort", (abort) => ({
      status: numberAt(abort, "http_status") ?? GRPC_STATUS,
      share: shareAt(abort),
    })),
    delay: milliseconds === undefined ? undefined : { milliseconds, share: shareAt(delay) },
    cluster: textAt(fault, "upstream_cluster"),
    headers: headerMatchesAt(fault, "headers"),
    nodes: textsAt(fault, "downstream_nodes"),
  };
}

/** HTTP status of a response that aborts a request with a gRPC status. */
const GRPC_STATUS = 200;

function shareAt(map: ValueMap): number {
  return readFraction(mapAt(map, "percentage"));
}
