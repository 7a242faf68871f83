/** Summarizes Envoy's configuration from the control plane: types, age and rejected updates. */
import { ageText } from "../../base/text/mod.ts";
import { isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { jsonOf } from "../snapshot/json_part.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import type { Pod } from "../pod.ts";
import { millisecondsOf, secondsBetween } from "./age.ts";
import type { Configuration, ResourceType } from "./pod_summary_schema.ts";
import { statsOf } from "./stats.ts";

/**
 * A type of resource: its section of the dump, the list there that contains the resources from the control plane, and
 * the counters of rejected updates. A resource name can be inside a counter: `http.a.rds.b.svc:80.update_rejected`.
 */
type TypeRow = readonly [type: ResourceType["type"], section: string, list: string, rejections: RegExp];

const TYPES: readonly TypeRow[] = [
  ["listeners", "ListenersConfigDump", "dynamic_listeners", /^listener_manager\.lds\.update_rejected$/],
  ["routes", "RoutesConfigDump", "dynamic_route_configs", /^(?=.*\.rds\.).*\.update_rejected$/],
  ["clusters", "ClustersConfigDump", "dynamic_active_clusters", /^cluster_manager\.cds\.update_rejected$/],
  ["endpoints", "EndpointsConfigDump", "dynamic_endpoint_configs", /^$/],
  ["secrets", "SecretsConfigDump", "dynamic_active_secrets", /^(?=.*\.sds\.).*\.update_rejected$/],
];

/** Returns the configuration of a snapshot. Without a dump, `envoy` is undefined and `absent` is the reason. */
export function configurationOf(
  { parts }: Pick<Snapshot, "parts">,
  envoy: EnvoyConfig | undefined,
  { pod, now, absent }: { readonly pod: Pod | undefined; readonly now: number | undefined; readonly absent: string },
): Configuration {
  const info = jsonOf(parts["server_info.json"], "server_info.json").value ?? {};
  const node = mapAt(mapAt(info, "node"), "metadata");
  const stats = statsOf(parts["stats.txt"].text);
  const types = TYPES.flatMap((row) =>
    envoy?.hasSection(row[1]) ? typeOf(row, envoy.section(row[1]), { stats, now }) : []
  );
  const known = {
    // The pod has the address even if its Envoy does not respond.
    controlPlane: textAt(mapAt(node, "PROXY_CONFIG"), "discoveryAddress") || (pod?.proxyEnvironment["CA_ADDR"] ?? ""),
    revision: revisionOf(pod),
    connected: connectedOf(stats, parts),
    istio: textAt(node, "ISTIO_VERSION"),
    isOwnAgent: isOwnAgent(parts),
    envoy: versionOf(textAt(info, "version")),
    state: textAt(info, "state") || (parts["ready.txt"].text ?? "").trim().slice(0, 40),
    uptime: secondsOf(textAt(info, "uptime_current_epoch")),
    types,
    rejected: (envoy?.rejected ?? []).map(({ name, time, why }) => ({ name, time, message: why })),
  };
  return { ...known, ...judged(known, envoy === undefined ? absent : undefined) };
}

function revisionOf(pod: Pod | undefined): string {
  return textAt(pod?.annotations ?? {}, "istio.io/rev") || (pod?.labels["istio.io/rev"] ?? "");
}

type Known = Omit<Configuration, "synchronised" | "result" | "message">;
type Judged = Pick<Configuration, "synchronised" | "result" | "message">;

/** A problem: whether the configuration is still current, the result, and the message (empty if nothing is wrong). */
type Rule = readonly [synchronised: boolean, result: Judged["result"], messageOf: (known: Known) => string];

/** Problems of the configuration, most important first. The first rule that applies gives the result. */
const RULES: readonly Rule[] = [
  [
    false,
    "error",
    ({ state }) => /INITIALIZING$/.test(state) ? `Envoy waits for its first configuration (${state})` : "",
  ],
  [
    false,
    "error",
    ({ rejected: [first] }) => first === undefined ? "" : `Envoy rejected "${first.name}": ${first.message}`,
  ],
  [false, "error", ({ types }) => {
    const none = types.filter(({ version, resources }) => version === "" && resources === 0).map(({ type }) => type);
    return none.includes("clusters") && none.includes("listeners")
      ? "Envoy has no configuration from a control plane"
      : "";
  }],
  [
    false,
    "error",
    ({ connected }) => connected === false ? "no connection to the control plane: Envoy gets no updates" : "",
  ],
  [false, "warning", ({ types }) => {
    const waiting = types.filter(({ warming }) => warming > 0).map(({ type, warming }) => `${warming} ${type}`);
    return waiting.length === 0 ? "" : `${waiting.join(", ")} wait for other resources`;
  }],
  [true, "warning", ({ types }) => {
    const refused = types.flatMap(({ type, rejections }) => rejections ? [`${rejections} updates of ${type}`] : []);
    return refused.length === 0
      ? ""
      : `Envoy rejected ${refused.join(", ")} since its start, and accepted the current configuration`;
  }],
  [true, "warning", ({ state }) => state === "DRAINING" ? "Envoy is draining its connections" : ""],
];

function judged(known: Known, absent: string | undefined): Judged {
  if (absent !== undefined) return { synchronised: null, result: "unknown", message: absent };
  for (const [synchronised, result, messageOf] of RULES) {
    const message = messageOf(known);
    if (message !== "") return { synchronised, result, message };
  }
  const newest = known.types.flatMap(({ age }) => age ?? []);
  const age = newest.length === 0 ? "" : `; the last change was ${ageText(Math.min(...newest))} ago`;
  if (known.connected === true) return { synchronised: true, result: "ok", message: `synchronised${age}` };
  const message = `no rejected updates${age}; it is unknown whether Envoy is connected`;
  return { synchronised: null, result: "ok", message };
}

function typeOf(
  [type, , list, rejections]: TypeRow,
  section: ValueMap,
  { stats, now }: { readonly stats: ReadonlyMap<string, number>; readonly now: number | undefined },
): ResourceType {
  const entries = mapsAt(section, list);
  const version = versionIn(section, list);
  const times = [...entries.map(updatedOf), timeOfVersion(version)].flatMap((time) => time ?? []);
  const updated = times.length === 0 ? undefined : times.reduce((a, b) => Math.max(a, b));
  const counters = [...stats].filter(([name]) => rejections.test(name)).map(([, value]) => value);
  return {
    type,
    version,
    updated: updated === undefined ? "" : new Date(updated).toISOString(),
    age: secondsBetween(updated, now),
    resources: Array.isArray(section[list]) ? entries.length : version === "" ? 0 : null,
    warming: mapsAt(section, `dynamic_warming_${type}`).length + entries.filter(isWarming).length,
    rejections: counters.length === 0 ? null : counters.reduce((a, b) => a + b),
  };
}

function isWarming(entry: ValueMap): boolean {
  return isMap(entry["warming_state"]) && !isMap(entry["active_state"]);
}

/** Returns the time of the last update. For a listener, the time is in `active_state`. */
function updatedOf(entry: ValueMap): number | undefined {
  return millisecondsOf(textAt(entry, "last_updated") || textAt(mapAt(entry, "active_state"), "last_updated"));
}

/** Returns the version of a section, or else the newest version of the entries in its list. */
function versionIn(section: ValueMap, list: string): string {
  const own = (entry: ValueMap) => textAt(entry, "version_info");
  return own(section) || newestOf(mapsAt(section, list).map((each) => own(each) || own(mapAt(each, "active_state"))));
}

function newestOf(versions: readonly string[]): string {
  return versions.reduce((a, b) => isNewer(a, b) ? a : b, "");
}

/** Returns the newest version of listeners, routes and clusters; empty without a control plane. */
export function configurationVersion(config: EnvoyConfig): string {
  const rows = TYPES.filter(([type]) => type !== "endpoints" && type !== "secrets");
  return newestOf(rows.map(([, section, list]) => versionIn(config.section(section), list)));
}

/** Whether istiod version `a` is newer than `b`, by time and then by counter. */
export function isNewer(a: string, b: string): boolean {
  const [first, second] = [a, b].map((each) => timeOfVersion(each) ?? 0);
  if (first !== second) return (first ?? 0) > (second ?? 0);
  const [own, other] = [a, b].map((each) => Number(each.split("/")[1] ?? 0));
  return (own ?? 0) > (other ?? 0);
}

/** Returns the time of a version. An istiod version starts with the time of the push: `2026-01-02T03:04:05Z/9`. */
function timeOfVersion(version: string): number | undefined {
  return millisecondsOf(version.split("/", 1)[0] ?? "");
}

/** Whether Envoy is connected to the control plane: the open xDS stream is an active request in the xDS cluster. */
function connectedOf(stats: ReadonlyMap<string, number>, parts: Snapshot["parts"]): boolean | null {
  // The bootstrap of newer Istio ends the cluster's name in statistics with a semicolon.
  const counter = (name: string) => stats.get(`cluster.xds-grpc;.${name}`) ?? stats.get(`cluster.xds-grpc.${name}`);
  const value = stats.get("control_plane.connected_state") ?? counter("upstream_rq_active") ??
    counter("upstream_cx_active") ?? requestsOf(parts);
  return value === undefined ? null : value > 0;
}

function requestsOf(parts: Snapshot["parts"]): number | undefined {
  const { value } = jsonOf(parts["clusters.json"], "clusters.json");
  if (value === undefined) return undefined;
  const status = mapsAt(value, "cluster_statuses").find((each) => textAt(each, "name") === "xds-grpc");
  const hosts = status === undefined ? [] : mapsAt(status, "host_statuses");
  const stats = hosts.flatMap((host) => mapsAt(host, "stats")).filter((stat) => textAt(stat, "name") === "rq_active");
  return stats.length === 0 ? undefined : stats.reduce((sum, stat) => sum + Number(textAt(stat, "value") || 0), 0);
}

/** Whether the agent is kubectl-mesh's agent, whose readiness response lists stages. */
function isOwnAgent(parts: Snapshot["parts"]): boolean {
  return /^(\d+: )?\[[+-]\]\w+ (ok|failed): /m.test(parts["agent_ready.txt"].text ?? "");
}

/** Returns the version in a text such as `SHA/1.40.0/Clean/RELEASE/BoringSSL`. */
function versionOf(text: string): string {
  return text.split("/")[1] ?? text;
}

/** Returns the seconds of a protobuf duration such as `287s`. */
function secondsOf(text: string): number | null {
  const [, seconds] = /^(\d+)(?:\.\d+)?s$/.exec(text) ?? [];
  return seconds === undefined ? null : Number(seconds);
}
