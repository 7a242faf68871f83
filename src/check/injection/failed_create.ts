/** Reads the reports of controllers whose pods the API server refuses: a condition or an event. */
import { apiPath } from "../../kube/api_path.ts";
import { oneLine } from "../../base/errors.ts";
import type { KubeApi } from "../../kube/client/mod.ts";
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { isKnown, observe } from "../inventory/observed.ts";
import type { Named } from "../advice/commands.ts";
import type { Target } from "./target.ts";

const FAILED = "FailedCreate";

/** Controllers that report failures only in events. Events remain for an hour, even after the failure is solved. */
const BY_EVENT: readonly string[] = ["StatefulSet", "DaemonSet", "Job"];

/** Returns the reports that the controller cannot create pods. Empty if the user may not read them. */
export async function failedCreates(api: KubeApi, target: Target): Promise<readonly string[]> {
  const { manifest, row, file } = target;
  if (file !== undefined) return [];
  const found = replicaFailure(manifest);
  if (found !== undefined) return [sentence(target, found)];
  return BY_EVENT.includes(row.kind) ? await fromEvents(api, target) : [];
}

/** Returns the condition of a controller that cannot create pods. */
export function replicaFailure(controller: ValueMap): ValueMap | undefined {
  return mapsAt(mapAt(controller, "status"), "conditions").find(({ type, status }) => {
    return type === "ReplicaFailure" && status === "True";
  });
}

async function fromEvents(api: KubeApi, target: Target): Promise<readonly string[]> {
  const { namespace, name, row: { kind } } = target;
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name},reason=${FAILED}`;
  const path = apiPath("api/v1", "events", namespace);
  const events = await observe("list on events", () => api.list(path, { fieldSelector }));
  if (!isKnown(events)) return [];
  const own = events.value.items.filter((event) => textAt(event, "reason") === FAILED);
  const last = lastEvent(own, { kind, namespace, name });
  return last === undefined ? [] : [sentence(target, last)];
}

export function lastEvent(events: readonly ValueMap[], { kind, namespace, name }: Named): ValueMap | undefined {
  const own = events.filter((event) => {
    const of = mapAt(event, "involvedObject");
    return of["kind"] === kind && of["namespace"] === namespace && of["name"] === name;
  });
  return own.toSorted((a, b) => timeOf(b) - timeOf(a))[0];
}

export function timeOf(event: ValueMap): number {
  const times = [
    textAt(mapAt(event, "series"), "lastObservedTime"),
    textAt(event, "lastTimestamp"),
    textAt(event, "eventTime"),
  ];
  return Math.max(...times.map((time) => Date.parse(time) || 0));
}

function sentence({ row, name }: Target, report: ValueMap): string {
  const message = oneLine(textAt(report, "message"));
  return `${row.kind.toLowerCase()}/${name} cannot create pods (${textAt(report, "reason") || FAILED}): ${message}`;
}
