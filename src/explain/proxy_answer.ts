/** Reads the state of a running pod's proxy, its certificate and configuration, for `check`. */
import { ApiError, type KubeConnection, type Pod } from "../kube/client/mod.ts";
import type { Clock } from "../platform/mod.ts";
import { podSummary } from "./summary/pod_summary.ts";
import { snapshotLive } from "./sources/live/live.ts";
import { SHORT_QUESTIONS } from "./sources/live/questions.ts";

interface AskedProxy {
  readonly api: Pick<KubeConnection, "exec">;
  readonly clock: Pick<Clock, "now">;
  readonly pod: Pod;
  readonly container: string;
}

/** The problems of a proxy, worst first. Messages are clauses. */
export interface ProxyAnswer {
  readonly problems: readonly { readonly result: "warning" | "error"; readonly message: string }[];
}

const TIMEOUT = 10_000;
/** IDs of findings that come from the proxy, not from the API server. */
const OF_PROXY: readonly string[] = ["certificate", "configuration"];

/**
 * Reads the problems of a proxy; `undefined` if its container does not run or the pod is gone. Throws an ApiError with
 * status 403 if the user is not allowed to exec.
 */
export async function askProxy({ api, clock, pod, container }: AskedProxy): Promise<ProxyAnswer | undefined> {
  const snapshot = await snapshotLive({ api, clock, container, timeout: TIMEOUT }, pod, SHORT_QUESTIONS);
  const { absent, message = "" } = snapshot.parts["config_dump.json"];
  switch (absent) {
    case "forbidden":
      throw new ApiError(message, { status: 403 });
    case "gone":
    case "not-running":
      return undefined;
    case undefined:
      break;
    default:
      return { problems: [{ result: "error", message }] };
  }
  const found = podSummary(snapshot).findings.filter(({ id }) => OF_PROXY.includes(id));
  return {
    problems: found.flatMap(({ result, message }) =>
      result === "error" || result === "warning" ? [{ result, message }] : []
    ),
  };
}
