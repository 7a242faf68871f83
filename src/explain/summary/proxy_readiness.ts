/** Finds why the proxy is not ready, from the agent's response and the counters that the agent reads. */
import { configProblem, serverProblem, workersProblem } from "../../istio/envoy_stats.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { statsOf } from "./stats.ts";

export interface ProxyReadiness {
  /** The result of the agent's readiness endpoint; `undefined` if unknown. */
  readonly isReady: boolean | undefined;
  /** Why the proxy is not ready; empty if unknown. */
  readonly reason: string;
}

const STATUS = /^(\d{3})\b/;
/** Status of an unready agent. Any other status comes from another server, or from a release without this path. */
const UNREADY = "503";
/** Matches a failed stage in the response to `?verbose`, which has one or several lines. */
const STAGE = /\[-\]\w+ failed: /;
const NEXT_STAGE = /\n|\s\[[+-]\]|\snot ready/;

function stageProblem(text: string): string | undefined {
  const found = STAGE.exec(text);
  if (found === null) return undefined;
  return text.slice(found.index + found[0].length).split(NEXT_STAGE, 1)[0]?.trimEnd();
}

/** Returns the proxy's readiness at the time of the snapshot. */
export function proxyReadiness({ parts }: Pick<Snapshot, "parts">): ProxyReadiness {
  const { text } = parts["agent_ready.txt"];
  const status = STATUS.exec(text ?? "")?.[1];
  if (text !== undefined && status === undefined) return { isReady: true, reason: "" };
  const isReady = status === UNREADY ? false : undefined;
  const said = stageProblem(text ?? "") ?? countersProblem(parts["stats.txt"].text);
  const answered = status === UNREADY ? `the agent returns ${status} on port 15020` : "";
  return { isReady, reason: [answered, said ?? ""].filter((each) => each !== "").join(": ") };
}

/** Returns a problem in the counters, in Istio's wording, which users search for. */
function countersProblem(text: string | undefined): string | undefined {
  const stats = statsOf(text);
  return stats.size === 0 ? undefined : configProblem(stats) ?? serverProblem(stats) ?? workersProblem(stats);
}
