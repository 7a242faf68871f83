/**
 * A snapshot: the raw data of one pod. It is the only input of `explain`, so a live pod, an archive and a folder give
 * the same results.
 */

/** The files of a snapshot. Their content is untrusted. */
export const PART_NAMES = [
  "config_dump.json",
  "clusters.json",
  "listeners.json",
  "server_info.json",
  "certs.json",
  "stats.txt",
  "ready.txt",
  "agent_ready.txt",
  "pod.json",
  "rules.iptables",
  "rules.ip6tables",
  "rules.nft",
  "sockets.txt",
  "name_table.json",
  "ztunnel.json",
  // `explain` does not read these parts, but people who read a snapshot do.
  "proxy.log",
  "proxy_previous.log",
  "init.log",
  "events.json",
] as const;

export type PartName = typeof PART_NAMES[number];

const MIB = 1024 * 1024;

/**
 * Maximum size of a part. A dump of 2,000 clusters and 5,000 endpoints has about 12 MiB; parsed JSON takes about ten
 * times the memory of its text.
 */
export function maxPartBytes(name: PartName): number {
  return name === "config_dump.json" || name === "ztunnel.json"
    ? 64 * MIB
    : name === "clusters.json" || name === "stats.txt"
    ? 32 * MIB
    : 8 * MIB;
}

export const ABSENT_REASONS = [
  /** The snapshot does not contain the file. */
  "not-in-snapshot",
  /** The API server denies access: the user lacks a permission. */
  "forbidden",
  /** The pod or its proxy container was deleted. */
  "gone",
  /** The proxy container does not run. */
  "not-running",
  /** Envoy or the agent did not answer in time. */
  "no-answer",
  /** The kernel denies access: a capability such as NET_ADMIN is missing. */
  "not-permitted",
  /** The pod cannot provide this part, for example because the nft program is missing or DNS is not captured. */
  "unsupported",
  "too-large",
  /** The file is not the expected text, archive or JSON. */
  "malformed",
] as const;

export type AbsentReason = typeof ABSENT_REASONS[number];

/** The text of a part, or why it is absent. `message` is a clause for the user, without a final period. */
export type Part = PresentPart | AbsentPart;

interface PresentPart {
  readonly text: string;
  readonly absent?: undefined;
  readonly message?: undefined;
}

export interface AbsentPart {
  readonly text?: undefined;
  readonly absent: AbsentReason;
  readonly message: string;
}

/** Namespace and name of a pod; empty if unknown. */
export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

export interface Snapshot {
  readonly pod: PodName;
  readonly time: Date | undefined;
  /** Source of the snapshot for messages, such as `"web.tar.gz"` or `pod/web`. */
  readonly origin: string;
  readonly parts: Readonly<Record<PartName, Part>>;
}

export function absentPart(absent: AbsentReason, message: string): AbsentPart {
  return { absent, message };
}

/** Returns all parts. Adds missing parts as `not-in-snapshot`. */
export function allParts(given: ReadonlyMap<string, Part>): Readonly<Record<PartName, Part>> {
  const part = (name: PartName) =>
    given.get(name) ?? absentPart("not-in-snapshot", `the snapshot does not contain ${name}`);
  return {
    "config_dump.json": part("config_dump.json"),
    "clusters.json": part("clusters.json"),
    "listeners.json": part("listeners.json"),
    "server_info.json": part("server_info.json"),
    "certs.json": part("certs.json"),
    "stats.txt": part("stats.txt"),
    "ready.txt": part("ready.txt"),
    "agent_ready.txt": part("agent_ready.txt"),
    "pod.json": part("pod.json"),
    "rules.iptables": part("rules.iptables"),
    "rules.ip6tables": part("rules.ip6tables"),
    "rules.nft": part("rules.nft"),
    "sockets.txt": part("sockets.txt"),
    "name_table.json": part("name_table.json"),
    "ztunnel.json": part("ztunnel.json"),
    "proxy.log": part("proxy.log"),
    "proxy_previous.log": part("proxy_previous.log"),
    "init.log": part("init.log"),
    "events.json": part("events.json"),
  };
}

export function isPartName(name: string): name is PartName {
  return PART_NAMES.some((each) => each === name);
}

/** Returns `NAMESPACE/NAME`; empty if the pod is unknown. */
export function podText({ namespace, name }: PodName): string {
  return name === "" ? "" : namespace === "" ? name : `${namespace}/${name}`;
}
