/** Sends a probe. Reads Envoy's counters before and after the probe, and then the rules and the access log. */
import { joinHostPort } from "../../golang/net/mod.ts";
import { re2Library } from "../../golang/re2.ts";
import type { Clock } from "../../platform/mod.ts";
import { absentPart, type Part, type PartName, type Snapshot } from "../snapshot/snapshot.ts";
import { factsOf } from "../connection/facts.ts";
import type { Connection } from "../question/question.ts";
import { LISTENER_STATS } from "./counters.ts";
import { type Counted, type Evidence, otherEnd, type ProbedSnapshot } from "../evidence.ts";
import { type ProbePlan, probePlan, type ProbeUser } from "./plan.ts";
import { marked, probeRequest, type Ran } from "./request.ts";

/** The environment that a probe is sent from: a running pod, or this process. */
export interface ProbePlace {
  readonly clock: Pick<Clock, "sleep">;
  /**
   * Prepares to run commands as a user. The `uid` of the returned sender can differ from the user's. Returns the reason
   * as a string if no sender is available.
   */
  sender(user: ProbeUser): Promise<ProbeSender | string>;
  /** Reads a path of Envoy's admin interface. */
  admin(part: PartName, path: string): Promise<Part>;
  /** Reads the kernel's current rules; empty if unreadable. */
  rules(): Promise<ReadonlyMap<PartName, Part>>;
  log(): Promise<Part>;
}

export interface ProbeSender {
  readonly uid: number;
  run(command: readonly string[]): Promise<Ran>;
}

/** Sends a request, and returns the snapshot with the evidence of this request. */
export async function probed(place: ProbePlace, snapshot: Snapshot, asked: Connection): Promise<ProbedSnapshot> {
  await re2Library.loaded();
  const mark = crypto.randomUUID();
  const plan = probePlan(factsOf(snapshot), marked(asked, mark));
  const probe = typeof plan === "string" ? notSent(asked, mark, plan) : await send(place, snapshot, plan, mark);
  return { ...snapshot, probe };
}

const NOT_SENT = absentPart("not-in-snapshot", "the probe did not connect to Envoy");
const NOTHING: Counted = { clusters: NOT_SENT, listeners: NOT_SENT };

function notSent(connection: Connection, mark: string, why: string): Evidence {
  const { direction, host, port } = connection;
  const request = direction === "inbound" ? `from ${host} to port ${port}` : `to ${joinHostPort(host, port)}`;
  const after = { before: NOTHING, after: NOTHING, rules: new Map(), log: NOT_SENT };
  return { request, connection, uid: undefined, mark, sent: why, ...after };
}

async function send(place: ProbePlace, snapshot: Snapshot, plan: ProbePlan, mark: string): Promise<Evidence> {
  const { connection, sent: asked, user, needsUser, isHttp } = plan;
  const request = probeRequest(asked, isHttp, mark);
  const sender = await senderFor(place, user, needsUser);
  if (typeof sender === "string") return notSent({ ...connection, isPlain: false }, mark, sender);
  const before = await counted(place);
  const sent = request.read(await sender.run(request.command));
  const after = await counted(place);
  const own = typeof sent === "string" ? undefined : sent.local;
  const isLogged = typeof sent !== "string" && otherEnd(sent) !== "left";
  const log = own !== undefined && isLogged
    ? await logged(place, snapshot, [mark, joinHostPort(own.address, own.port)])
    : NOT_SENT;
  const rules = own === undefined ? new Map() : await place.rules();
  const text = `${request.text} as UID ${sender.uid}`;
  return { request: text, connection, uid: sender.uid, mark, sent, before, after, rules, log };
}

async function senderFor(place: ProbePlace, user: ProbeUser, needsUser: boolean): Promise<ProbeSender | string> {
  const sender = await place.sender(user);
  if (typeof sender === "string" || !needsUser || sender.uid === user.uid) return sender;
  return `only requests of UID ${user.uid} reach Envoy like requests from outside, but this process has UID ${sender.uid}`;
}

async function counted(place: ProbePlace): Promise<Counted> {
  const [clusters, listeners] = await Promise.all([
    place.admin("clusters.json", "clusters?format=json"),
    place.admin("stats.txt", LISTENER_STATS),
  ]);
  return { clusters, listeners };
}

/** Number of attempts to read the log. Envoy flushes it every second under pilot-agent, otherwise every ten seconds. */
const TRIES = 25;
const BETWEEN = 500;

/** Waits until the log contains the request, or until the last attempt. */
async function logged(place: ProbePlace, snapshot: Snapshot, marks: readonly string[]): Promise<Part> {
  const { text: config = "" } = snapshot.parts["config_dump.json"];
  if (!/\/dev\/stdout|StdoutAccessLog/.test(config)) {
    const why = "Envoy does not write an access log to standard output (meshConfig.accessLogFile)";
    return absentPart("unsupported", why);
  }
  for (let left = TRIES;; left--) {
    const log = await place.log();
    const { text } = log;
    if (text === undefined || left === 0 || marks.some((mark) => text.includes(mark))) return log;
    await place.clock.sleep(BETWEEN);
  }
}
