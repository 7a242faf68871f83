/** Summarizes a pod's mesh state from its snapshot. Pure. */
import { mapAt, textAt } from "../../base/value.ts";
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
import { proxyReadiness, readinessOf } from "./readiness.ts";
import { trafficOf } from "./traffic.ts";

/** Returns the summary of a pod. Missing parts are `unknown` with a reason. Ages are relative to the snapshot's time. */
export function podSummary(snapshot: Snapshot): PodSummary {
  const { parts } = snapshot;
  const now = snapshot.time?.getTime();
  const object = jsonOf(parts["pod.json"], "pod.json").value;
  const { config, absent } = readEnvoy(snapshot);
  const containers = object === undefined ? [] : containersOf(object, now);
  const pod = podOf(snapshot);
  const ztunnel = ztunnelDump(snapshot);
  const ambient = ambientOf(snapshot.pod, pod, ztunnel);
  const configuration = {
    ...configurationOf(snapshot, config, { pod, now, absent: absent?.message ?? "" }),
    ...ambient === null ? {} : { result: ambient.result, message: ambient.message },
  };
  const differences = object === undefined ? undefined : differencesOf(object);
  const known = {
    pod: podText(snapshot.pod),
    time: snapshot.time?.toISOString() ?? "",
    node: textAt(mapAt(object ?? {}, "spec"), "nodeName"),
    addresses: pod?.addresses ?? [],
    phase: textAt(mapAt(object ?? {}, "status"), "phase"),
    containers,
    traffic: trafficOf(snapshot, object, pod),
    certificate: certificateOf(snapshot, config, ztunnel),
    configuration,
    ambient,
    readiness: readinessOf(object, containers, { state: configuration.state, agent: proxyReadiness(snapshot) }),
    compared: differences !== undefined,
    differences: differences ?? [],
  };
  return { ...known, findings: findingsOf(known) };
}
