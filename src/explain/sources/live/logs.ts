/** Reads the logs and events of a pod from the API server. */
import { apiPath } from "../../../kube/api_path.ts";
import { mapAt, textAt, type ValueMap } from "../../../base/value.ts";
import type { KubeConnection, Pod } from "../../../kube/client/mod.ts";
import { absentPart, type Part, type PartName } from "../../snapshot/snapshot.ts";
import { placeOf, unreadPart } from "./live.ts";
import { hasContainer } from "./pods.ts";

/** Maximum number of lines of a log, counted from its end. */
const LINES = 2000;
const MAX_BYTES = 1024 * 1024;
/** Maximum number of events, newest first. The API server keeps events for an hour. */
const MAX_EVENTS = 200;
/** Names of the mesh's init containers. */
const INIT = ["istio-init", "istio-validation"];

/** Returns the end of a container's log. `query` contains parameters of the API, such as `sinceSeconds`. */
export async function logOf(
  api: Pick<KubeConnection, "text">,
  pod: Pod,
  query: Readonly<Record<"container", string>> & Readonly<Record<string, string>>,
): Promise<Part> {
  const path = `${apiPath("api/v1", "pods", placeOf(pod).namespace, pod.metadata.name)}/log`;
  return await part("the log", async () => {
    let lines = LINES;
    while (true) {
      const limits = { tailLines: String(lines), limitBytes: String(MAX_BYTES) };
      const text = await api.text(`${path}?${new URLSearchParams({ ...limits, ...query })}`);
      if (new TextEncoder().encode(text).length < 0.95 * MAX_BYTES || lines === 1) return text;
      // The kubelet keeps about MAX_BYTES of the start of these lines. With fewer lines, the newest fit.
      lines = Math.max(1, Math.floor(Math.min(lines, text.split("\n").length) * 0.8));
    }
  });
}

/** Returns the logs of the proxy and of the mesh's init container, and the pod's events. */
export async function logsAndEvents(
  api: Pick<KubeConnection, "text" | "list">,
  pod: Pod,
  container: string,
): Promise<ReadonlyMap<PartName, Part>> {
  const { spec, status } = pod;
  const states = [...status?.containerStatuses ?? [], ...status?.initContainerStatuses ?? []];
  const hasRestarted = states.some((state) => state.name === container && (state.restartCount ?? 0) > 0);
  const init = spec?.initContainers?.find(({ name = "" }) => INIT.includes(name))?.name;
  const [log, previous, initLog, events] = await Promise.all([
    hasContainer(pod, container)
      ? logOf(api, pod, { container })
      : absentPart("unsupported", `the pod has no container ${container}`),
    hasRestarted
      ? logOf(api, pod, { container, previous: "true" })
      : absentPart("unsupported", "the proxy has not restarted"),
    init === undefined
      ? absentPart("unsupported", `the pod has no init container ${INIT.join(" or ")}`)
      : logOf(api, pod, { container: init }),
    part("the events", () => eventsText(api, pod)),
  ]);
  return new Map([
    ["proxy.log", log],
    ["proxy_previous.log", previous],
    ["init.log", initLog],
    ["events.json", events],
  ]);
}

async function eventsText(api: Pick<KubeConnection, "list">, pod: Pod): Promise<string> {
  const fieldSelector = `involvedObject.kind=Pod,involvedObject.name=${pod.metadata.name}`;
  const { items } = await api.list(apiPath("api/v1", "events", placeOf(pod).namespace), { fieldSelector });
  const events = items.map(eventOf).toSorted((a, b) => a.last < b.last ? -1 : 1).slice(-MAX_EVENTS);
  return JSON.stringify({ events });
}

/** Returns the fields that `kubectl describe` shows. `time` is the first occurrence, `last` the newest. */
function eventOf(event: ValueMap) {
  const series = mapAt(event, "series");
  const time = textAt(event, "firstTimestamp") || textAt(event, "eventTime");
  const count = series["count"] ?? event["count"] ?? 1;
  return {
    time,
    last: textAt(series, "lastObservedTime") || textAt(event, "lastTimestamp") || time,
    count: typeof count === "number" ? count : 1,
    type: textAt(event, "type"),
    reason: textAt(event, "reason"),
    from: textAt(mapAt(event, "source"), "component") || textAt(event, "reportingComponent"),
    message: textAt(event, "message"),
  };
}

async function part(what: string, read: () => Promise<string>): Promise<Part> {
  try {
    return { text: await read() };
  } catch (error) {
    return unreadPart(error, `${what} cannot be read: `);
  }
}
