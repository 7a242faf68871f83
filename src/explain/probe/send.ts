/** Sends a probe, and reads Envoy's counters, the rules and the access log around it. */
import { re2Library } from "../../core/re2.ts";
import type { Clock } from "../../core/world/mod.ts";
import { absentPart, type Capture, type Part, type PartName } from "../capture/capture.ts";
import { answerWith } from "../connection/answer.ts";
import { factsOf } from "../connection/facts.ts";
import { senderOf } from "../connection/sender.ts";
import type { Connection } from "../question/question.ts";
import { LISTENER_STATS } from "./counters.ts";
import { type Counted, type Evidence, otherEnd, type ProbedCapture } from "./evidence.ts";
import { marked, probeRequest, type Ran } from "./request.ts";

/** Who sends the request. */
export interface ProbeUser {
  readonly uid: number;
  readonly gid: number;
}

/** Where a probe is sent. */
export interface ProbePlace {
  readonly clock: Pick<Clock, "sleep">;
  /** Makes a place from which commands run as a user, who is told if it is another one; a text says why there is none. */
  sender(user: ProbeUser): Promise<ProbeSender | string>;
  /** The answer of Envoy's admin interface. */
  admin(part: PartName, path: string): Promise<Part>;
  /** The rules of the kernel now; empty where they cannot be read. */
  rules(): Promise<ReadonlyMap<PartName, Part>>;
  /** The last lines of the proxy's log. */
  log(): Promise<Part>;
}

/** Runs commands. */
export interface ProbeSender {
  readonly uid: number;
  run(command: readonly string[]): Promise<Ran>;
}

/** For a container whose user its image decides: a user whom no rule names. */
const SOME_USER = 65_532;

/** The capture with what a request of the connection left behind. */
export async function probed(
  place: ProbePlace,
  capture: Capture,
  asked: Connection,
): Promise<ProbedCapture> {
  await re2Library.loaded();
  const mark = crypto.randomUUID();
  const connection = marked(asked, mark);
  const facts = factsOf(capture);
  const { uid = SOME_USER, gid = uid } = senderOf(facts.pod);
  const isHttp = isRequest(
    connection,
    () => answerWith(facts, connection).stations.some(({ kind }) => kind === "route"),
  );
  const request = probeRequest(connection, isHttp, mark);
  const sender = await place.sender({ uid, gid });
  const before = await counted(place);
  const sent = typeof sender === "string" ? sender : request.read(await sender.run(request.command));
  const after = await counted(place);
  const isSent = typeof sent !== "string" && sent.local !== undefined;
  const isLogged = isSent && otherEnd(sent) !== "left";
  const log = isLogged ? await logged(place, capture, [mark, `${sent.local.address}:${sent.local.port}`]) : NOT_SENT;
  const evidence: Evidence = {
    request: `${request.text} as UID ${typeof sender === "string" ? uid : sender.uid}`,
    connection,
    uid: typeof sender === "string" ? undefined : sender.uid,
    mark,
    sent,
    before,
    after,
    rules: isSent ? await place.rules() : new Map(),
    log,
  };
  return { ...capture, probe: evidence };
}

const NOT_SENT = absentPart("not-captured", "there was no connection to Envoy");

/** What is not said is a request where a route takes it: a server of TCP gets no byte. */
function isRequest({ spoken }: Connection, isRouted: () => boolean): boolean {
  return spoken === "http" || spoken === "tls" || spoken === "unsaid" && isRouted();
}

async function counted(place: ProbePlace): Promise<Counted> {
  const [clusters, listeners] = await Promise.all([
    place.admin("clusters.json", "clusters?format=json"),
    place.admin("stats.txt", LISTENER_STATS),
  ]);
  return { clusters, listeners };
}

/** Envoy writes its log every second under pilot-agent, else every ten seconds. */
const TRIES = 25;
const BETWEEN = 500;

/** The log, when it has a line of the request, or does not get one. */
async function logged(place: ProbePlace, capture: Capture, marks: readonly string[]): Promise<Part> {
  const { text: config = "" } = capture.parts["config_dump.json"];
  if (!/\/dev\/stdout|StdoutAccessLog/.test(config)) {
    return absentPart("unsupported", "Envoy writes no access log to its standard output (meshConfig.accessLogFile)");
  }
  for (let left = TRIES;; left--) {
    const log = await place.log();
    const { text } = log;
    if (text === undefined || left === 0 || marks.some((mark) => text.includes(mark))) return log;
    await place.clock.sleep(BETWEEN);
  }
}
