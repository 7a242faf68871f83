/** What a probe proves about the stations. Only evidence of this one request proves a station. */
import type { Answer, Station, StationKind } from "../answer_schema.ts";
import { kernelRules } from "../kernel/rules.ts";
import type { Facts } from "../connection/facts.ts";
import { joinHostPort } from "../../golang/net/mod.ts";
import { addressText } from "../connection/endpoints.ts";
import { sentence } from "../connection/connection_path.ts";
import { lineOf, type LogLine } from "./access_log.ts";
import { type CountedHost, countedHosts, countedListeners } from "./counters.ts";
import { type Evidence, otherEnd, type Sent } from "../evidence.ts";
import type { ProcSocket } from "../kernel/sockets.ts";

/** Whether the request passed a station, and the evidence. */
interface Proof {
  readonly passed: boolean;
  readonly message: string;
}

interface Trail {
  readonly answer: Answer;
  readonly facts: Facts;
  readonly evidence: Evidence;
  readonly sent: Sent;
  readonly other: ReturnType<typeof otherEnd>;
  /** The other end of the connection, if it is in the pod. */
  readonly accepted: ProcSocket | undefined;
  /** Envoy forwarded the request: the response is not Envoy's own. */
  readonly isForwarded: boolean;
  readonly line: LogLine | undefined;
  readonly hosts: readonly CountedHost[] | undefined;
}

/** The answer with what the probe proved. Without a probe it is the same. */
export function withProbe(answer: Answer, facts: Facts): Answer {
  const { probe: evidence } = facts.snapshot;
  if (evidence === undefined) return answer;
  const { request, sent } = evidence;
  if (typeof sent === "string") {
    return { ...answer, probe: { request, isSent: false, result: `it was not sent: ${sent}`, unproved: [] } };
  }
  const trail = trailOf(answer, facts, evidence, sent);
  const proofs = proofsOf(trail);
  const stations = answer.stations.map((station, at) => proved(station, proofs[at]));
  const open = answer.stations.filter((_, at) => proofs[at] === undefined).map(({ kind }) => kind);
  const isSent = sent.local !== undefined;
  const probe = { request, isSent, result: resultText(trail), unproved: unprovedTexts(trail, open) };
  return { ...answer, ...endOf(trail, proofs), stations, probe };
}

function trailOf(answer: Answer, facts: Facts, evidence: Evidence, sent: Sent): Trail {
  const own = sent.local === undefined ? undefined : joinHostPort(sent.local.address, sent.local.port);
  const other = otherEnd(sent);
  const accepted = other === "left" ? undefined : other;
  const isForwarded = accepted !== undefined && PROXY_PORTS.includes(accepted.local.port) &&
    sent.headers.has(FORWARDED);
  // If Envoy answers itself, no host counts the request: counted requests are other traffic.
  const hosts = isForwarded ? countedHosts(evidence, answer.direction) : undefined;
  return {
    answer,
    facts,
    evidence,
    sent,
    other,
    accepted,
    isForwarded,
    line: own === undefined
      ? undefined
      : lineOf(evidence.log.text ?? "", { mark: evidence.mark, own, direction: answer.direction }),
    hosts: hosts?.length === 0 ? undefined : hosts,
  };
}

/** A header of forwarded responses. Envoy's own answers do not have it. */
const FORWARDED = "x-envoy-upstream-service-time";

function proved(station: Station, proof: Proof | undefined): Station {
  if (proof === undefined) return station;
  const message = `${station.message}; probe: ${proof.message}`;
  if (!proof.passed) return { ...station, result: "error", message };
  return { ...station, source: "proved", result: station.result === "unknown" ? "ok" : station.result, message };
}

type Prover = (station: Station, trail: Trail) => Proof | undefined;

const PROVERS: Readonly<Partial<Record<StationKind, Prover>>> = {
  application: ({ detail }, { evidence: { uid } }) =>
    uid !== undefined && detail["uid"] === uid ? { passed: true, message: `sent as UID ${uid}` } : undefined,
  dns: name,
  kernel,
  listener,
  "filter-chain": (station, trail) => named(station, trail, trail.line?.chain, BY_LOG),
  route: (station, trail) => named(station, trail, trail.line?.route, BY_LOG) ?? refusal(station, trail),
  cluster: (station, trail) => {
    const { name, by } = clusterOf(trail);
    return named(station, trail, name, by) ?? refusal(station, trail);
  },
  endpoint: (station, trail) => endpoint(station, trail) ?? refusal(station, trail),
};

/** A request from inside the pod matches another kernel rule than a client's request. */
const INBOUND_PROVERS: typeof PROVERS = {
  ...PROVERS,
  kernel: () => undefined,
  listener: boundListener,
  authorization,
  port: (station, trail) => endpoint(station, trail) ?? refusal(station, trail),
};

/** A proof for each station, in order. Stations of a cluster that the request did not take are not proved. */
function proofsOf(trail: Trail): (Proof | undefined)[] {
  if (isElsewhere(trail)) return [];
  const provers = trail.answer.direction === "inbound" ? INBOUND_PROVERS : PROVERS;
  let isBesides = false;
  return trail.answer.stations.map((station) => {
    if (station.kind === "cluster") isBesides = ![undefined, station.name].includes(clusterOf(trail).name);
    return isBesides && station.kind !== "cluster" ? undefined : provers[station.kind]?.(station, trail);
  });
}

/** Whether evidence is missing that an inbound request reached Envoy's inbound port. */
function isElsewhere({ answer, accepted }: Trail): boolean {
  return answer.direction === "inbound" && accepted?.local.port !== INBOUND_PORT;
}

function name({ detail }: Station, { sent: { remote } }: Trail): Proof | undefined {
  const addresses = detail["addresses"];
  if (remote === undefined) return undefined;
  const passed = !Array.isArray(addresses) || addresses.includes(remote.address);
  return { passed, message: `the name was resolved to ${remote.address}` };
}

function kernel(station: Station, trail: Trail): Proof | undefined {
  const { accepted, other, answer } = trail;
  const { port } = station.detail;
  const isBypass = answer.verdict === "bypasses";
  if (accepted !== undefined) {
    const message = `the connection was accepted at port ${accepted.local.port}${countText(station, trail)}`;
    const isOther = isBypass ? PROXY_PORTS.includes(accepted.local.port) : port !== accepted.local.port;
    return { passed: !isOther || station.result === "unknown", message };
  }
  return other === "left"
    ? { passed: isBypass, message: "the connection left the pod: no process in it has the other end" }
    : undefined;
}

const INBOUND_PORT = 15006;
const PROXY_PORTS = [15001, INBOUND_PORT];

/** The change of the deciding rule's packet counter. */
function countText({ detail }: Station, { evidence: { rules }, facts }: Trail): string {
  const before = detail["packets"];
  if (typeof before !== "number" || rules.size === 0) return "";
  const parts = { ...facts.snapshot.parts, ...Object.fromEntries(rules) };
  const rule = kernelRules({ parts }, facts.pod).rules?.rules.find(({ table, chain, place }) =>
    table === detail["table"] && chain === detail["chain"] && place === detail["rule"]
  );
  return rule?.packets === undefined ? "" : `; the counter of the rule went from ${before} to ${rule.packets}`;
}

/** Envoy counts a connection at the listener that handles it. */
function listener({ name }: Station, { facts, evidence: { before, after } }: Trail): Proof | undefined {
  const counted = countedListeners(before, after);
  const [address] = facts.config?.listeners.find((each) => each.name === name)?.addresses ?? [];
  const [only] = counted ?? [];
  if (counted?.length !== 1 || only === undefined || address === undefined) return undefined;
  return {
    passed: only === addressText(address).replaceAll(":", "_"),
    message: `the listener of ${only} alone counted a connection`,
  };
}

/** Only one listener is bound to the port that accepted the connection. */
function boundListener({ name }: Station, { facts, accepted }: Trail): Proof | undefined {
  const [address] = facts.config?.listeners.find((each) => each.name === name)?.addresses ?? [];
  if (accepted === undefined || address?.port !== accepted.local.port) return undefined;
  return { passed: true, message: `the connection was accepted at its port ${accepted.local.port}` };
}

/** A forwarded request passed all rules. A TCP connection without data proves nothing. */
function authorization({ result }: Station, { isForwarded, line, sent }: Trail): Proof | undefined {
  if (isDenied(line)) return { passed: result !== "ok", message: `it got 403, ${line?.details}, ${BY_LOG}` };
  return isForwarded ? { passed: result !== "error", message: `it was forwarded, and got ${sent.status}` } : undefined;
}

function isDenied(line: LogLine | undefined): boolean {
  return line?.details?.startsWith("rbac_access_denied") === true;
}

const BY_LOG = "by the access log";

function clusterOf({ line, hosts }: Trail): { readonly name: string | undefined; readonly by: string } {
  const counted = new Set(hosts?.map(({ cluster }) => cluster));
  if (line?.cluster !== undefined) return { name: line.cluster, by: BY_LOG };
  const [only] = counted;
  return { name: counted.size === 1 ? only : undefined, by: "no other cluster counted a request" };
}

/** Compares the names. No proof if the request took another station of the answer, such as another weighted cluster. */
function named(station: Station, { answer }: Trail, actual: string | undefined, by: string): Proof | undefined {
  if (actual === undefined || station.name === "") return undefined;
  if (actual === station.name) return { passed: true, message: by };
  const isAnother = answer.stations.some(({ kind, name }) => kind === station.kind && name === actual);
  return isAnother ? undefined : { passed: false, message: `it took ${actual}, ${by}` };
}

function endpoint({ name }: Station, { answer, line, hosts }: Trail): Proof | undefined {
  const host = line?.host ?? (hosts?.length === 1 ? hosts[0]?.address : undefined);
  if (name === "" || host === undefined) return undefined;
  const passed = answer.endpoints.some(({ address }) => address === host);
  return { passed, message: `${host} ${line?.host === undefined ? "alone counted a request" : BY_LOG}` };
}

/** Proof of a refusal: the station's message contains the outcome in the access log, such as `503 UH`. */
function refusal({ result, message }: Station, { line }: Trail): Proof | undefined {
  const { outcome, flags } = line ?? {};
  if (result !== "error" || outcome === undefined || flags === undefined) return undefined;
  return message.includes(outcome) ? { passed: true, message: `it got ${outcome}, ${BY_LOG}` } : undefined;
}

/** How the probe changes the answer: unknown if the request missed an expected station, else by its outcome. */
function endOf(trail: Trail, proofs: readonly (Proof | undefined)[]): Partial<Answer> {
  const { answer: { stations } } = trail;
  if (isElsewhere(trail)) return {};
  const missed = stations.findIndex((_, at) => proofs[at]?.passed === false);
  const [station, proof] = [stations[missed], proofs[missed]];
  if (station !== undefined && proof !== undefined) {
    return unsure(`the probe did not take the ${station.kind} that was expected: ${proof.message}`);
  }
  return verdictOf(trail);
}

/** What the outcome of the request changes. */
function verdictOf(trail: Trail): Partial<Answer> {
  const { answer: { verdict }, sent, line, isForwarded } = trail;
  if (verdict === "refused" && isForwarded) return unsure(`the probe was not refused: it got ${sent.status}`);
  if (verdict === "unknown" && (isForwarded || isConnected(line))) return { verdict: "reaches", ...arrived(trail) };
  if (verdict !== "reaches") return {};
  if (sent.failure !== "") return unsure(`the probe got no answer: ${sent.failure}`);
  return isForwarded ? {} : ownAnswer(line);
}

/** Whether the line of the access log names an endpoint, and neither a response flag nor a denial. */
function isConnected(line: LogLine | undefined): boolean {
  return line?.host !== undefined && line.flags === undefined && !isDenied(line);
}

function arrived({ line, hosts, sent: { status } }: Trail): Pick<Answer, "reason" | "fix"> {
  const host = line?.host ?? hosts?.[0]?.address ?? "an endpoint";
  return { reason: `The probe reached ${host}${status === 0 ? "" : `, and got ${status}`}`, fix: "" };
}

/** The verdict `refused`, if Envoy itself answered; else nothing. */
function ownAnswer(line: LogLine | undefined): Partial<Answer> {
  if (line?.outcome === undefined) return {};
  const why = isDenied(line) ? `: ${line.details}` : "";
  if (line.flags === undefined && why === "") return {};
  return { verdict: "refused", reason: `The probe got ${line.outcome} from Envoy itself${why}`, fix: "" };
}

function unsure(message: string): Partial<Answer> {
  return { verdict: "unknown", reason: sentence(message), fix: "" };
}

function resultText({ sent: { local, status, failure } }: Trail): string {
  if (local === undefined) return `it was not sent: ${failure === "" ? "there was no connection" : failure}`;
  return `sent from ${joinHostPort(local.address, local.port)}: ${
    failure !== "" ? failure : status === 0 ? "connected" : `the answer is ${status}`
  }`;
}

function uncountedText({ sent, hosts }: Trail): string {
  return sent.status !== 0 && hosts === undefined ? "no counter shows that Envoy forwarded it" : "";
}

/** What a request from inside the pod leaves open. */
function insideText(trail: Trail): string {
  if (trail.answer.direction === "outbound") return "";
  const { sent: { local }, evidence: { connection }, accepted } = trail;
  const where = accepted === undefined
    ? "nothing shows that Envoy"
    : `port ${accepted.local.port}, which is not Envoy's,`;
  if (isElsewhere(trail)) return `${where} accepted the request`;
  return `the request came from ${local?.address} in plain text, by another rule of the kernel: the address ` +
    `${connection.host} cannot be made`;
}

/** Why stations are not proved. */
function unprovedTexts(trail: Trail, open: readonly StationKind[]): string[] {
  const { evidence, line, hosts, accepted } = trail;
  if (open.length === 0) return [];
  const clusters = new Set(hosts?.map(({ cluster }) => cluster)).size;
  return [
    `not proved: ${[...new Set(open)].join(", ")}`,
    insideText(trail),
    open.includes("kernel") && accepted === undefined ? "the connection was closed before its sockets were read" : "",
    ...line === undefined
      ? [evidence.log.message ?? "the access log has no line of the request", uncountedText(trail)]
      : [],
    clusters > 1 ? `other traffic: ${clusters} clusters counted requests meanwhile` : "",
  ].filter((text) => text !== "");
}
