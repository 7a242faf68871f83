/** Lists the containers of a pod in start order, with a text for each state. */
import { ageText } from "../../base/text/mod.ts";
import { intAt, isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { millisecondsOf, secondsBetween } from "./age.ts";
import { exitInWords, isBenignWait, waitInWords } from "./exit_codes.ts";
import type { Result, SummaryContainer } from "./pod_summary_schema.ts";

type Kind = SummaryContainer["kind"];

const LISTS: readonly (readonly [specs: string, statuses: string, kind: Kind])[] = [
  ["initContainers", "initContainerStatuses", "init"],
  ["containers", "containerStatuses", "container"],
  ["ephemeralContainers", "ephemeralContainerStatuses", "ephemeral"],
];

/**
 * Containers that set or check redirect rules: istio-init sets them; with the CNI plugin, istio-validation checks them.
 */
const CAPTURE: readonly string[] = ["istio-init", "istio-validation"];

/** Returns the containers. `now` is the time of the snapshot, in milliseconds since 1970. */
export function containersOf(pod: ValueMap, now: number | undefined): SummaryContainer[] {
  return LISTS.flatMap(([specs, statuses, kind]) =>
    mapsAt(mapAt(pod, "spec"), specs).map((spec) => {
      const name = textAt(spec, "name");
      const status = mapsAt(mapAt(pod, "status"), statuses).find((each) => textAt(each, "name") === name) ?? {};
      const own = kind === "init" && textAt(spec, "restartPolicy") === "Always" ? "sidecar" : kind;
      const role = name === "istio-proxy" ? "proxy" : CAPTURE.includes(name) ? "capture" : "application";
      return { name, kind: own, role, image: textAt(spec, "image"), ...stateOf(status, { kind: own, role, now }) };
    })
  );
}

type State = Pick<SummaryContainer, "state" | "ready" | "since" | "restarts" | "lastEnd" | "result" | "message">;

interface Judging extends Pick<SummaryContainer, "kind" | "role"> {
  readonly now: number | undefined;
}

function stateOf(status: ValueMap, { kind, role, now }: Judging): State {
  const restarts = intAt(status, "restartCount") ?? 0;
  const last = mapAt(mapAt(status, "lastState"), "terminated");
  const lastEnd = Object.keys(last).length === 0
    ? ""
    : exitInWords(intAt(last, "exitCode") ?? -1, textAt(last, "reason"), role);
  const common = { ready: null, restarts, lastEnd };
  const state = mapAt(status, "state");
  if (isMap(state["running"])) {
    return { ...common, ...running(status, mapAt(state, "running"), { lastEnd, kind, now }) };
  }
  if (isMap(state["waiting"])) {
    const reason = textAt(mapAt(state, "waiting"), "reason");
    const after = lastEnd === "" ? "" : `; ${lastEnd}`;
    const result: Result = isBenignWait(reason) ? "warning" : "error";
    return { ...common, state: "waiting", since: "", result, message: `${waitInWords(reason)}${after}` };
  }
  if (isMap(state["terminated"])) return { ...common, ...ended(mapAt(state, "terminated"), { kind, role }) };
  return { ...common, state: "unknown", since: "", result: "unknown", message: "its state is unknown" };
}

function running(
  status: ValueMap,
  state: ValueMap,
  { lastEnd, kind, now }: { readonly lastEnd: string; readonly kind: Kind; readonly now: number | undefined },
): Pick<State, "state" | "ready" | "since" | "result" | "message"> {
  const since = textAt(state, "startedAt");
  const seconds = secondsBetween(millisecondsOf(since), now);
  const restarts = intAt(status, "restartCount") ?? 0;
  const ready = readyOf(status, kind);
  const isUnready = ready === false;
  const parts = [
    seconds === null ? "runs" : `runs for ${ageText(seconds)}`,
    ...isUnready ? ["not ready"] : [],
    ...restarts === 0 ? [] : [`${restarts} restarts${lastEnd === "" ? "" : `, the last after ${lastEnd}`}`],
  ];
  const result = isUnready || restarts > 0 ? "warning" : "ok";
  return { state: "running", ready, since, result, message: parts.join("; ") };
}

/** Returns whether a container is ready; `null` for an ephemeral container, which the kubelet never marks as ready. */
function readyOf({ ready }: ValueMap, kind: Kind): boolean | null {
  return typeof ready === "boolean" && kind !== "ephemeral" ? ready : null;
}

function ended(
  state: ValueMap,
  { kind, role }: Pick<Judging, "kind" | "role">,
): Pick<State, "state" | "since" | "result" | "message"> {
  const code = intAt(state, "exitCode") ?? -1;
  // An ephemeral container exits when its user is finished, with any exit code.
  const isWell = kind === "ephemeral" || code === 0 && kind !== "sidecar";
  return {
    state: "ended",
    since: textAt(state, "finishedAt"),
    result: isWell ? "ok" : "error",
    message: `ended: ${exitInWords(code, textAt(state, "reason"), role)}`,
  };
}
