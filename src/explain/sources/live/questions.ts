/** Commands to run in the proxy's container, one for each part. */
import type { PartName } from "../../snapshot/snapshot.ts";
import type { Pod } from "../../../kube/client/mod.ts";
import { containerOf } from "./pods.ts";

export interface PartCommand {
  readonly part: PartName;
  readonly command: readonly string[];
}

/** Pattern for the Envoy counters that `explain` reads. */
const STATS_FILTER = "^(server\\.(state|live|uptime|days_until_first_cert_expiring|total_connections)|" +
  "cluster_manager\\.(cds|warming_clusters|active_clusters).*|listener_manager\\.(lds|total_listeners|listener_create_failure|" +
  "listener_in_place_updated|workers_started).*|control_plane\\..*|cluster\\.xds-grpc;?\\.upstream_(cx_active|cx_connect_fail|rq_active)|" +
  ".*\\.(rds|sds)\\.[^.]*\\.(update_rejected|update_success|update_time|version)|.*outlier_detection\\.ejections_active)$";

const STATS = `stats?filter=${encodeURIComponent(STATS_FILTER)}`;

/** Parts and their paths in Envoy's admin interface. The first path is the one that fails fastest if Envoy is down. */
export const ADMIN_PARTS: readonly (readonly [part: PartName, path: string])[] = [
  ["server_info.json", "server_info"],
  ["config_dump.json", "config_dump?include_eds"],
  ["clusters.json", "clusters?format=json"],
  ["listeners.json", "listeners?format=json"],
  ["certs.json", "certs"],
  ["stats.txt", STATS],
  ["ready.txt", "ready"],
];

/** The agent's port and path for the name table. */
export const NAME_TABLE = { port: 15020, path: "debug/ndsz" } as const;

/** The agent's port and path for readiness. kubectl-mesh's agent lists the stages; Istio's agent returns only a status. */
export const AGENT_READY = { port: 15020, path: "healthz/ready?verbose" } as const;

/** Files that list the sockets of the network namespace. */
export const SOCKET_FILES = ["/proc/net/tcp", "/proc/net/tcp6", "/proc/net/udp", "/proc/net/udp6"] as const;

/**
 * Masks of `config_dump.json` for one table row, which select only versions and certificates, a few KiB. There are two
 * masks, because Envoy rejects a mask if none of the messages has all of its fields.
 */
const SHORT_DUMPS = ["version_info", "dynamic_active_secrets,dynamic_warming_secrets"];

const REQUEST = ["pilot-agent", "request"];

/** Commands for all parts except rules. A distroless image cannot print sockets, because it does not contain `cat`. */
export const WHOLE_QUESTIONS: readonly PartCommand[] = [
  ...ADMIN_PARTS.map(([part, path]): PartCommand => ({ part, command: [...REQUEST, "GET", path] })),
  { part: "name_table.json", command: ofAgent(NAME_TABLE) },
  { part: "agent_ready.txt", command: ofAgent(AGENT_READY) },
  { part: "sockets.txt", command: ["cat", ...SOCKET_FILES] },
];

/** Commands for a listing of the configuration. */
export const CONFIGURATION_QUESTIONS = WHOLE_QUESTIONS.filter(({ part }) =>
  part === "config_dump.json" || part === "clusters.json"
);

function ofAgent({ port, path }: { readonly port: number; readonly path: string }): readonly string[] {
  return [...REQUEST, "--debug-port", String(port), "GET", path];
}

/** Commands for one table row about a pod. Outputs for the same part are joined. */
export const SHORT_QUESTIONS: readonly PartCommand[] = [
  ...SHORT_DUMPS.map((mask): PartCommand => ({
    part: "config_dump.json",
    command: [...REQUEST, "GET", `config_dump?mask=${mask}`],
  })),
  { part: "stats.txt", command: [...REQUEST, "GET", STATS] },
];

/** Whether a container can read rules. This needs NET_ADMIN, which the injected proxy has only with TPROXY. */
export function mayReadRules(pod: Pod, container: string): boolean {
  const { capabilities, privileged } = containerOf(pod, container)?.securityContext ?? {};
  return privileged === true || (capabilities?.add?.includes("NET_ADMIN") ?? false);
}
