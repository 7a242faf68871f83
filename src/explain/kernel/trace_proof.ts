/** The kernel's station, compared with what the kernel did to a packet (`--local --trace`). */
import { errorText, MeshError } from "../../base/errors.ts";
import { joinHostPort } from "../../golang/net/mod.ts";
import { observe, type Observed, targetOf } from "../../iptables/mod.ts";
import type { World } from "../../platform/mod.ts";
import type { Connection } from "../question/question.ts";
import type { Answer, Station } from "../answer_schema.ts";

/** What the trace saw, or why it saw nothing. */
export type Traced = Observed | string;

/** The answer with the kernel's station proved, or contradicted. A trace that saw nothing leaves it as it is. */
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
  const reason = `The kernel does not do what its rules are expected to: ${ending.text}`;
  const { decided: _decided, ...other } = replaced({ source: "proved", result: "error", message });
  return { ...other, verdict: "unknown", reason, fix: "" };
}

/** Milliseconds: the kernel reports a packet that it sends at once. */
const LIMIT = 3000;

/** Sends a first packet of the connection and traces it. Only root is a user that no rule of a capture names. */
export async function traceOf(world: World, { host, port }: Connection): Promise<Traced> {
  if (world.machine.uid !== 0) return "only root can send a packet that the rules treat as the application's";
  const stop = new AbortController().signal;
  try {
    const to = await targetOf(world, joinHostPort(host, port));
    const traced = await observe(world, {
      flow: { protocol: "tcp", to },
      send: { uid: undefined },
      milliseconds: LIMIT,
      stop,
    });
    return traced ?? "no packet was seen";
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return errorText(error);
  }
}
