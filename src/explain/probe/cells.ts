/** Proves connections of one pod: sends one request for each connection, all from one sender. */
import { atOnce } from "../../base/at_once.ts";
import type { Answer } from "../answer_schema.ts";
import type { Facts } from "../connection/facts.ts";
import { senderOf } from "../connection/sender.ts";
import type { Sent } from "../evidence.ts";
import type { Connection } from "../question/question.ts";
import { probePlan, SOME_USER } from "./plan.ts";
import { FROM_ENDPOINT, marked, probeRequest } from "./request.ts";
import type { ProbePlace, ProbeSender } from "./send.ts";

interface Asked extends Pick<Answer, "verdict"> {
  readonly connection: Connection;
}

export interface CellProof {
  /** Status such as `200`, or why there was no response. */
  readonly result: string;
  /** Whether an endpoint accepted the request and responded; `null` if unknown. */
  readonly reached: boolean | null;
}

/** Maximum number of concurrent requests from one pod. */
const AT_ONCE = 4;

/** Sends a request for each connection. Calls `done` after each request. */
export async function proveCells(
  sender: ProbePlace["sender"],
  facts: Facts,
  all: readonly Asked[],
  done: () => void,
): Promise<readonly CellProof[]> {
  const { uid = SOME_USER, gid = uid } = senderOf(facts.pod);
  const found = await sender({ uid, gid });
  return await atOnce(all, AT_ONCE, async (asked) => {
    const proof = typeof found === "string" ? notSent(found) : await proveCell(found, facts, asked);
    done();
    return proof;
  });
}

async function proveCell(sender: ProbeSender, facts: Facts, { connection, verdict }: Asked): Promise<CellProof> {
  const mark = crypto.randomUUID();
  const plan = probePlan(facts, marked(connection, mark));
  if (typeof plan === "string") return notSent(plan);
  const { command, read } = probeRequest(plan.sent, plan.isHttp, mark);
  const sent = read(await sender.run(command));
  return typeof sent === "string" ? notSent(sent) : proofOf(sent, plan.isHttp, accepterOf(facts, verdict));
}

function notSent(why: string): CellProof {
  return { result: `not sent: ${why}`, reached: null };
}

/** Statuses that a server's proxy returns if it denies a request, or if its application does not accept connections. */
const REFUSED = [403, 503];

/** The process that accepts the client's connection. Envoy and ztunnel accept every redirected connection. */
type Accepter = "envoy" | "ztunnel" | "server";

function accepterOf({ pod }: Facts, verdict: Answer["verdict"]): Accepter {
  if (verdict !== "bypasses" && (pod === undefined || pod.proxy !== undefined)) return "envoy";
  return pod?.isAmbient === true ? "ztunnel" : "server";
}

function proofOf({ status, headers, failure }: Sent, isHttp: boolean, accepted: Accepter): CellProof {
  if (failure !== "") return { result: failure, reached: false };
  if (!isHttp) return { result: "connected", reached: accepted === "server" ? true : null };
  const isThere = accepted !== "envoy" || headers.has(FROM_ENDPOINT);
  return { result: String(status), reached: isThere && !REFUSED.includes(status) };
}
