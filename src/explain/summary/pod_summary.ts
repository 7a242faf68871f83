/** Summarizes a pod's mesh state from its snapshot. Pure. */
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { podText, type Snapshot } from "../snapshot/snapshot.ts";
import { jsonOf } from "../snapshot/json_part.ts";
import { readEnvoy } from "../envoy/config.ts";
import { podOf } from "../pod.ts";
import { ambientOf } from "./ambient.ts";
import { ztunnelDump } from "../ztunnel/dump.ts";
import { certificateOf } from "./certificate.ts";
import { configurationOf } from "./configuration.ts";
import { containersOf } from "./containers.ts";
import { differencesOf } from "./differences.ts";
import { findingsOf } from "./findings.ts";
import type { PodSummary } from "./pod_summary_schema.ts";
import { proxyReadiness } from "./proxy_readiness.ts";
import { readinessOf } from "./readiness.ts";
import { trafficOf } from "./traffic.ts";

/** Returns the summary of a pod. Missing parts are `unknown` with a reason. Ages are relative to the snapshot's time. */
export function podSummary(snapshot: Snapshot): PodSummary {
  const { parts } = snapshot;
  const now = snapshot.time?.getTime();
  const object = jsonOf(parts["pod.json"], "pod.json").value;
  const { config, absent } = readEnvoy(snapshot);
  const containers = object === undefined ? [] : containersOf(object, now);
  const ambient = ambientOf(snapshot);
  const configuration = {
    ...configurationOf(snapshot, config, { controlPlane: controlPlaneOf(object), now, absent: absent?.message ?? "" }),
    ...ambient === null ? {} : { result: ambient.result, message: ambient.message },
  };
  const differences = object === undefined ? undefined : differencesOf(object);
  const known = {
    pod: podText(snapshot.pod),
    time: snapshot.time?.toISOString() ?? "",
    ...placeOf(object),
    containers,
    traffic: trafficOf(snapshot, object, podOf(snapshot)),
    certificate: certificateOf(snapshot, config, ztunnelDump(snapshot)),
    configuration,
    ambient,
    readiness: readinessOf(object, containers, { state: configuration.state, agent: proxyReadiness(snapshot) }),
    compared: differences !== undefined,
    differences: differences ?? [],
  };
  return { ...known, findings: findingsOf(known) };
}

function placeOf(object: ValueMap | undefined): Pick<PodSummary, "node" | "addresses" | "phase"> {
  if (object === undefined) return { node: "", addresses: [], phase: "" };
  const status = mapAt(object, "status");
  return {
    node: textAt(mapAt(object, "spec"), "nodeName"),
    addresses: mapsAt(status, "podIPs").map((each) => textAt(each, "ip")).filter((ip) => ip !== ""),
    phase: textAt(status, "phase"),
  };
}

/** Returns the control plane from the pod's fields, for a pod whose Envoy does not respond. */
function controlPlaneOf(object: ValueMap | undefined): { readonly address: string; readonly revision: string } {
  if (object === undefined) return { address: "", revision: "" };
  const metadata = mapAt(object, "metadata");
  const proxy = mapsAt(mapAt(object, "spec"), "containers").concat(mapsAt(mapAt(object, "spec"), "initContainers"))
    .find((container) => textAt(container, "name") === "istio-proxy") ?? {};
  const address = mapsAt(proxy, "env").find((each) => textAt(each, "name") === "CA_ADDR") ?? {};
  return {
    address: textAt(address, "value"),
    revision: textAt(mapAt(metadata, "annotations"), "istio.io/rev") ||
      textAt(mapAt(metadata, "labels"), "istio.io/rev"),
  };
}
