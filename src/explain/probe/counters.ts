/**
 * Finds the counters of Envoy that grew between two readings. Without other traffic, only the counters of the probe's
 * request grow.
 */
import { mapsAt } from "../../base/value.ts";
import type { Answer } from "../answer_schema.ts";
import type { Part } from "../snapshot/snapshot.ts";
import { jsonOf } from "../snapshot/json_part.ts";
import { addressText } from "../connection/endpoints.ts";
import { readClusterStatus } from "../envoy/host_status.ts";
import type { Counted } from "../evidence.ts";

/** Path of the admin interface for the connection counters of listeners. */
export const LISTENER_STATS = `stats?filter=${encodeURIComponent("^listener\\..*downstream_cx_total$")}`;

export interface CountedHost {
  readonly cluster: string;
  readonly address: string;
}

type Counters = ReadonlyMap<string, number>;

/** Returns the hosts of inbound or outbound clusters whose request counter grew; `undefined` if a reading is absent. */
export function countedHosts(
  { before, after }: { readonly before: Counted; readonly after: Counted },
  direction: Answer["direction"],
): readonly CountedHost[] | undefined {
  const keys = moved(hostCounters(before.clusters, direction), hostCounters(after.clusters, direction));
  return keys?.map((key) => {
    const [cluster = "", address = ""] = key.split("\n");
    return { cluster, address };
  });
}

/** Returns the listeners whose connection counter grew, such as `0.0.0.0_9080`; `undefined` if none has a counter. */
export function countedListeners(before: Counted, after: Counted): readonly string[] | undefined {
  const counters = listenerCounters(after.listeners);
  return counters?.size === 0 ? undefined : moved(listenerCounters(before.listeners), counters);
}

function moved(before: Counters | undefined, after: Counters | undefined): string[] | undefined {
  if (before === undefined || after === undefined) return undefined;
  return [...after].filter(([key, value]) => value > (before.get(key) ?? 0)).map(([key]) => key);
}

const INBOUND = /^(inbound\||Inbound)/;
/** The proxy's own clusters, which do not carry application traffic. */
const OWN_CLUSTERS = /^(xds-grpc|sds-grpc|agent|prometheus_stats|zipkin)$/;

function hostCounters(part: Part, direction: Answer["direction"]): Counters | undefined {
  const { value } = jsonOf(part, "clusters.json");
  if (value === undefined) return undefined;
  const counters = new Map<string, number>();
  for (const { name, hosts } of mapsAt(value, "cluster_statuses").map(readClusterStatus)) {
    if (OWN_CLUSTERS.test(name) || INBOUND.test(name) !== (direction === "inbound")) continue;
    for (const { address, counters: own } of hosts) {
      counters.set(`${name}\n${addressText(address)}`, own.get("rq_total") ?? 0);
    }
  }
  return counters;
}

const LINE = /^listener\.(.+)\.downstream_cx_total: (\d+)$/;
/** Matches listeners to ignore: admin interface, per-worker counters, and the ports for inbound, probes and metrics. */
const OWN = /^admin(\.|$)|\.worker_\d+$|_150(?:06|21|90)$/;

function listenerCounters({ text }: Part): Counters | undefined {
  if (text === undefined) return undefined;
  const lines = text.split("\n").flatMap((line) => {
    const [, name = "", value = ""] = LINE.exec(line) ?? [];
    return name === "" || OWN.test(name) ? [] : [[name, Number(value)] as const];
  });
  return new Map(lines);
}
