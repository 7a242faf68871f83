/** Determines the proxy's service name in traces and statistics. Source: Istio's bootstrap.getServiceCluster. */
import { LABEL } from "../../../istio/configuration.ts";
import type { Value, ValueMap } from "../../../base/value.ts";

export interface NameSources {
  readonly proxyConfig: ValueMap;
  readonly labels: ReadonlyMap<string, string>;
  readonly workloadName: string;
  readonly namespace: string;
}

const UNNAMED = "istio-proxy";

/** Returns the name from the proxy configuration, or else a name derived from labels, workload or namespace. */
export function clusterName(sources: NameSources): string {
  const named: Value | undefined = sources.proxyConfig["serviceCluster"];
  if (typeof named === "string") return nameOr(named, sources);
  switch (sources.proxyConfig["tracingServiceName"]) {
    case "CANONICAL_NAME_ONLY":
      return nameOr(canonicalName(sources), sources);
    case "CANONICAL_NAME_AND_NAMESPACE":
      return sources.namespace === ""
        ? nameOr(canonicalName(sources), sources)
        : `${canonicalName(sources)}.${sources.namespace}`;
    default:
      return nameOr(UNNAMED, sources);
  }
}

function nameOr(name: string, { labels, workloadName, namespace }: NameSources): string {
  if (name !== "" && name !== UNNAMED) return name;
  const label = [LABEL.app, LABEL.recommendedName, LABEL.canonicalName].map((key) => labels.get(key))
    .find((value) => value !== undefined);
  if (label !== undefined) return `${label}.${namespace}`;
  if (workloadName !== "") return `${workloadName}.${namespace}`;
  return namespace === "" ? UNNAMED : `${UNNAMED}.${namespace}`;
}

function canonicalName({ labels, workloadName }: NameSources): string {
  const label = [LABEL.canonicalName, LABEL.recommendedName, LABEL.app].map((key) => labels.get(key))
    .find((value) => value !== undefined && value !== "");
  return label ?? (workloadName === "" ? UNNAMED : workloadName);
}
