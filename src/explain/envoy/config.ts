/**
 * Reads Envoy's configuration from a snapshot. Indexes resources by name and parses each on first use: a large mesh has
 * thousands of resources, but a connection needs only a few.
 */
import { isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { type AbsentPart, absentPart, type Snapshot } from "../snapshot/snapshot.ts";
import { jsonOf } from "../snapshot/json_part.ts";
import { type Assignment, readAssignment } from "./assignment.ts";
import { type Cluster, readCluster } from "./cluster.ts";
import { type ClusterStatus, readClusterStatus } from "./host_status.ts";
import { type Listener, readListener } from "./listener.ts";
import { anyOf } from "./message.ts";
import { readRouteConfig, type RouteConfig } from "./route_config.ts";

export interface Rejected {
  readonly name: string;
  readonly why: string;
  /** Time of the rejected update; empty if unknown. */
  readonly time: string;
}

export interface EnvoyConfig {
  readonly listeners: readonly Listener[];
  /** Names of listeners that wait for other resources, such as routes or secrets. */
  readonly warming: readonly string[];
  readonly rejected: readonly Rejected[];
  route(name: string): RouteConfig | undefined;
  cluster(name: string): Cluster | undefined;
  readonly clusterNames: readonly string[];
  /** Returns the assigned endpoints; `undefined` if the dump does not contain this name. */
  assignment(name: string): Assignment | undefined;
  /** Returns the current hosts; `undefined` if clusters.json is absent or does not contain the cluster. */
  status(cluster: string): ClusterStatus | undefined;
  readonly routeNames: readonly string[];
  /** Returns a section of the dump, such as `ListenersConfigDump`; empty if absent. */
  section(name: string): ValueMap;
  hasSection(name: string): boolean;
}

/** The configuration; or the absent part, with the reason. */
export type ConfigReading = { readonly config: EnvoyConfig; readonly absent?: undefined } | {
  readonly config?: undefined;
  readonly absent: AbsentPart;
};

export function readEnvoy({ parts }: Pick<Snapshot, "parts">): ConfigReading {
  const dump = jsonOf(parts["config_dump.json"], "config_dump.json");
  if (dump.value === undefined) return { absent: dump.part };
  const sections = sectionsOf(dump.value);
  if (typeof sections === "string") return { absent: absentPart("malformed", sections) };
  const hosts = jsonOf(parts["clusters.json"], "clusters.json").value;
  return { config: configOf(sections, hosts) };
}

/** Returns the sections of a dump by the last part of their type, or the reason why the JSON is not a dump. */
function sectionsOf(dump: ValueMap): ReadonlyMap<string, ValueMap> | string {
  const configs = dump["configs"];
  if (!Array.isArray(configs)) return "config_dump.json does not contain configs";
  const sections = new Map<string, ValueMap>();
  for (const config of configs.filter(isMap)) {
    const { type, value } = anyOf(config);
    if (CAMEL_CASE.some((key) => Object.hasOwn(value, key))) {
      return "config_dump.json has keys such as versionInfo: it was written by istioctl, but Envoy's own dump is needed";
    }
    const earlier = sections.get(type);
    sections.set(type, earlier === undefined ? value : { ...earlier, ...value });
  }
  return sections.size === 0 ? "config_dump.json does not contain configs" : sections;
}

const CAMEL_CASE = ["versionInfo", "staticClusters", "dynamicListeners", "dynamicRouteConfigs", "lastUpdated"];

function configOf(sections: ReadonlyMap<string, ValueMap>, hosts: ValueMap | undefined): EnvoyConfig {
  const section = (name: string) => sections.get(name) ?? {};
  const listeners = section("ListenersConfigDump");
  const clusters = byName(messagesIn(section("ClustersConfigDump"), CLUSTER_LISTS, "cluster"), "name");
  // Inline route configurations are part of the listener message, and are read there.
  const routes = byName(messagesIn(section("RoutesConfigDump"), ["dynamic_route_configs"], "route_config"), "name");
  const assigned = messagesIn(section("EndpointsConfigDump"), ENDPOINT_LISTS, "endpoint_config");
  return {
    listeners: activeListeners(listeners).map(readListener),
    warming: mapsAt(listeners, "dynamic_listeners").filter((each) =>
      isMap(each["warming_state"]) && !isMap(each["active_state"])
    ).map((each) => textAt(each, "name")),
    rejected: rejectedIn(listeners, section("ClustersConfigDump"), section("RoutesConfigDump")),
    route: found(routes, readRouteConfig),
    cluster: found(clusters, readCluster),
    clusterNames: [...clusters.keys()],
    assignment: found(byName(assigned, "cluster_name"), readAssignment),
    status: found(byName(mapsAt(hosts ?? {}, "cluster_statuses"), "name"), readClusterStatus),
    routeNames: [...routes.keys()],
    section,
    hasSection: (name) => sections.has(name),
  };
}

/** Lists of a dump with messages of one type, in its sections of clusters and endpoints. */
export const CLUSTER_LISTS = ["static_clusters", "dynamic_active_clusters"];
export const ENDPOINT_LISTS = ["static_endpoint_configs", "dynamic_endpoint_configs"];

/** Returns Envoy's node in the bootstrap configuration; empty if absent. */
export function nodeOf(config: EnvoyConfig | undefined): ValueMap {
  return mapAt(mapAt(config?.section("BootstrapConfigDump") ?? {}, "bootstrap"), "node");
}

function byName(messages: readonly ValueMap[], key: string): ReadonlyMap<string, ValueMap> {
  return new Map(messages.map((message) => [textAt(message, key), message]));
}

/** Returns a lookup that parses each message once, on first use. */
function found<T>(
  index: ReadonlyMap<string, ValueMap>,
  read: (message: ValueMap) => T,
): (name: string) => T | undefined {
  const known = new Map<string, T>();
  return (name) => {
    const message = index.get(name);
    if (message === undefined) return undefined;
    const earlier = known.get(name);
    if (earlier !== undefined) return earlier;
    const value = read(message);
    known.set(name, value);
    return value;
  };
}

/** Returns the messages of the active listeners, from the section of the dump. */
export function activeListeners(section: ValueMap): ValueMap[] {
  return [
    ...mapsAt(section, "static_listeners").map((each) => mapAt(each, "listener")),
    ...mapsAt(section, "dynamic_listeners").map((each) => mapAt(mapAt(each, "active_state"), "listener")),
  ].filter((listener) => Object.keys(listener).length > 0);
}

/** Returns the messages in these lists of a section. The message is in the field `field` of each entry. */
export function messagesIn(section: ValueMap, lists: readonly string[], field: string): ValueMap[] {
  return lists.flatMap((list) => mapsAt(section, list)).map((entry) => mapAt(entry, field))
    .filter((message) => Object.keys(message).length > 0);
}

const ENTRIES: readonly (readonly [list: string, field: string])[] = [
  ["dynamic_listeners", "listener"],
  ["dynamic_active_clusters", "cluster"],
  ["dynamic_warming_clusters", "cluster"],
  ["dynamic_route_configs", "route_config"],
];

/** Returns the entries whose last update Envoy rejected (`error_state`). */
function rejectedIn(...sections: readonly ValueMap[]): Rejected[] {
  return sections.flatMap((section) =>
    ENTRIES.flatMap(([list, field]) =>
      mapsAt(section, list).flatMap((entry): Rejected[] => {
        const error = mapAt(entry, "error_state");
        const why = textAt(error, "details");
        const name = textAt(entry, "name") || textAt(mapAt(entry, field), "name");
        return why === "" ? [] : [{ name, why, time: textAt(error, "last_update_attempt") }];
      })
    )
  );
}
