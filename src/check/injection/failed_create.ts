/** What controllers report when the API server refuses their pods: a condition, or an event. */
import { oneLine } from "../../base/errors.ts";
import type { KubeApi } from "../../kube/client/mod.ts";
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { isKnown, observe } from "../inventory/observed.ts";
import type { Target } from "./target.ts";

const FAILED = "FailedCreate";

/** Controllers without a condition. Events are kept for an hour: one of a failure that is over may remain. */
const BY_EVENT: readonly string[] = ["StatefulSet", "DaemonSet", "Job"];

/** The failures of the workload's controller to create pods, as sentences; empty if none is reported or readable. */
export async function failedCreates(api: KubeApi, target: Target): Promise<readonly string[]> {
  const { manifest, row, file } = target;
  if (file !== undefined) return [];
  const conditions = mapsAt(mapAt(manifest, "status"), "conditions");
  const found = conditions.find((each) =>
    textAt(each, "type") === "ReplicaFailure" && textAt(each, "status") === "True"
  );
  if (found !== undefined) return [sentence(target, found)];
  return BY_EVENT.includes(row.kind) ? await fromEvents(api, target) : [];
}

async function fromEvents(api: KubeApi, target: Target): Promise<readonly string[]> {
  const { namespace, name, row: { kind } } = target;
  const fieldSelector = `involvedObject.kind=${kind},involvedObject.name=${name},reason=${FAILED}`;
  const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/events`;
  const events = await observe("list on events", () => api.list(path, { fieldSelector }));
  if (!isKnown(events)) return [];
  const own = events.value.items.filter((event) => {
    const { kind: of, name: named } = mapAt(event, "involvedObject");
    return of === kind && named === name && textAt(event, "reason") === FAILED;
  });
  const last = own.toSorted((a, b) => timeOf(a).localeCompare(timeOf(b))).at(-1);
  return last === undefined ? [] : [sentence(target, last)];
}

function timeOf(event: ValueMap): string {
  return textAt(event, "lastTimestamp") || textAt(event, "eventTime");
}

function sentence({ row, name }: Target, report: ValueMap): string {
  const message = oneLine(textAt(report, "message"));
  return `${row.kind.toLowerCase()}/${name} cannot create pods (${textAt(report, "reason") || FAILED}): ${message}`;
}
