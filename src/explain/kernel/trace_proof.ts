/** Compares the kernel's station with the trace of a real packet (`--local --trace`). */
import { errorText, MeshError } from "../../base/errors.ts";
import { joinHostPort } from "../../golang/net/mod.ts";
import { observe, type Observed, targetOf } from "../../iptables/mod.ts";
import type { World } from "../../platform/mod.ts";
import type { Connection } from "../question/question.ts";
import type { Answer, Station } from "../answer_schema.ts";

/** The result of a trace, or why the trace has no result. */
export type Traced = Observed | string;

/** Returns the answer with the kernel's station proved or contradicted. If the trace has no result, only adds why. */
export function withTrace(answer: Answer, traced: Traced): Answer {
  const at = answer.stations.findIndex(({ kind, side }) => kind === "kernel" && side === "client");
  const station = answer.stations[at];
  if (station === undefined) return answer;
  const replaced = (next: Partial<Station>): Answer => ({
    ...answer,
    stations: answer.stations.with(at, { ...station, ...next }),
  });
  if (typeof traced === "string") return replaced({ message: `${station.message}; trace: ${traced}` });
  const { ending, ends } = traced;
  const message = `${station.message}; trace: ${ends}: ${ending.text}`;
  if (ending.port === station.detail["port"]) return replaced({ source: "proved", message });
  const reason = `The kernel treats the packet differently than its rules predict: ${ending.text}`;
  const { decided: _decided, ...other } = replaced({ source: "proved", result: "error", message });
  return { ...other, verdict: "unknown", reason, fix: "" };
}

/** Milliseconds to wait for the trace. The kernel reports a packet as soon as it is sent. */
const LIMIT = 3000;

/**
 * Sends the first packet of the connection and traces it. Needs root: the redirect rules exclude the proxy's user, but
 * treat root's packets like the application's.
 */
export async function traceOf(world: World, { host, port }: Connection): Promise<Traced> {
  if (world.machine.uid !== 0) {
    return "only root can send a packet that the kernel treats like the application's packets";
  }
  const stop = new AbortController().signal;
  try {
    const to = await targetOf(world, joinHostPort(host, port));
    const traced = await observe(world, {
      flow: { protocol: "tcp", to },
      send: { uid: undefined },
      milliseconds: LIMIT,
      stop,
    });
    return traced ?? "the kernel reported no packet";
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return errorText(error);
  }
}
