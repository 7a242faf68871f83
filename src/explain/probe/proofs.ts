/** Decides which stations a probe proves. Only evidence of this one request proves a station. */
import type { Answer, Station, StationKind } from "../answer_schema.ts";
import { kernelRules } from "../kernel/rules.ts";
import type { Facts } from "../connection/facts.ts";
import { joinHostPort } from "../../golang/net/mod.ts";
import { addressText } from "../connection/endpoints.ts";
import { sentence } from "../connection/connection_path.ts";
import { FROM_ENDPOINT } from "./request.ts";
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
  /** Whether Envoy forwarded the request: the response comes from an endpoint. */
  readonly isForwarded: boolean;
  readonly line: LogLine | undefined;
  readonly hosts: readonly CountedHost[] | undefined;
}

/** Adds the results of the probe to the answer. Without a probe, returns the answer unchanged. */
export function withProbe(answer: Answer, facts: Facts): Answer {
  const { probe: evidence } = facts.snapshot;
  if (evidence === undefined) return answer;
  const { request, sent } = evidence;
  if (typeof sent === "string") {
    return { ...answer, probe: { request, isSent: false, result: `not sent: ${sent}`, unproved: [] } };
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
    sent.headers.has(FROM_ENDPOINT);
  // If Envoy itself responds, no host counts the request, so any counted request is other traffic.
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

/**
 * Provers for inbound requests. The kernel is not proved: a request from inside the pod and a request from another pod
 * match different rules.
 */
const INBOUND_PROVERS: typeof PROVERS = {
  ...PROVERS,
  kernel: () => undefined,
  listener: boundListener,
  authorization,
  port: (station, trail) => endpoint(station, trail) ?? refusal(station, trail),
};

/** Returns a proof for each station, in order; no proof for stations of a cluster that the request did not use. */
function proofsOf(trail: Trail): (Proof | undefined)[] {
  if (isElsewhere(trail)) return [];
  const provers = trail.answer.direction === "inbound" ? INBOUND_PROVERS : PROVERS;
  let isBesides = false;
  return trail.answer.stations.map((station) => {
    if (station.kind === "cluster") isBesides = ![undefined, station.name].includes(clusterOf(trail).name);
    return isBesides && station.kind !== "cluster" ? undefined : provers[station.kind]?.(station, trail);
  });
}

/** Whether there is no evidence that an inbound request reached Envoy's inbound port. */
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
    const message = `port ${accepted.local.port} accepted the connection${countText(station, trail)}`;
    const isOther = isBypass ? PROXY_PORTS.includes(accepted.local.port) : port !== accepted.local.port;
    return { passed: !isOther || station.result === "unknown", message };
  }
  return other === "left"
    ? { passed: isBypass, message: "the connection left the pod: no process in the pod has the other end" }
    : undefined;
}

const INBOUND_PORT = 15006;
const PROXY_PORTS = [15001, INBOUND_PORT];

/** Returns the change of the deciding rule's packet counter, as the end of a message. */
function countText({ detail }: Station, { evidence: { rules }, facts }: Trail): string {
  const before = detail["packets"];
  if (typeof before !== "number" || rules.size === 0) return "";
  const parts = { ...facts.snapshot.parts, ...Object.fromEntries(rules) };
  const rule = kernelRules({ parts }, facts.pod).rules?.rules.find(({ table, chain, place }) =>
    table === detail["table"] && chain === detail["chain"] && place === detail["rule"]
  );
  return rule?.packets === undefined ? "" : `; the counter of the rule went from ${before} to ${rule.packets}`;
}

/** Proves the listener: Envoy counts a connection at the listener that handles it. */
function listener({ name }: Station, { facts, evidence: { before, after } }: Trail): Proof | undefined {
  const counted = countedListeners(before, after);
  const [address] = facts.config?.listeners.find((each) => each.name === name)?.addresses ?? [];
  const [only] = counted ?? [];
  if (counted?.length !== 1 || only === undefined || address === undefined) return undefined;
  return {
    passed: only === addressText(address).replaceAll(":", "_"),
    message: `only the listener of ${only} counted a connection`,
  };
}

/** Proves the listener: a port to which only this listener is bound accepted the connection. */
function boundListener({ name }: Station, { facts, accepted }: Trail): Proof | undefined {
  const [address] = facts.config?.listeners.find((each) => each.name === name)?.addresses ?? [];
  if (accepted === undefined || address?.port !== accepted.local.port) return undefined;
  return { passed: true, message: `its port ${accepted.local.port} accepted the connection` };
}

/** Proves the authorization: a forwarded request passed all rules. A TCP connection without data proves nothing. */
function authorization({ result }: Station, { isForwarded, line, sent }: Trail): Proof | undefined {
  if (isDenied(line)) return { passed: result !== "ok", message: `the response was 403, ${line?.details}, ${BY_LOG}` };
  return isForwarded
    ? { passed: result !== "error", message: `Envoy forwarded the request, and the response was ${sent.status}` }
    : undefined;
}

function isDenied(line: LogLine | undefined): boolean {
  return line?.details?.startsWith("rbac_access_denied") === true;
}

const BY_LOG = "according to the access log";

function clusterOf({ line, hosts }: Trail): { readonly name: string | undefined; readonly by: string } {
  const counted = new Set(hosts?.map(({ cluster }) => cluster));
  if (line?.cluster !== undefined) return { name: line.cluster, by: BY_LOG };
  const [only] = counted;
  return { name: counted.size === 1 ? only : undefined, by: "no other cluster counted a request" };
}

/** Compares the station's name with the name that the request used. Proves nothing if another station has that name. */
function named(station: Station, { answer }: Trail, actual: string | undefined, by: string): Proof | undefined {
  if (actual === undefined || station.name === "") return undefined;
  if (actual === station.name) return { passed: true, message: by };
  const isAnother = answer.stations.some(({ kind, name }) => kind === station.kind && name === actual);
  return isAnother ? undefined : { passed: false, message: `the request used ${actual}, ${by}` };
}

function endpoint({ name }: Station, { answer, line, hosts }: Trail): Proof | undefined {
  const host = line?.host ?? (hosts?.length === 1 ? hosts[0]?.address : undefined);
  if (name === "" || host === undefined) return undefined;
  const passed = answer.endpoints.some(({ address }) => address === host);
  return { passed, message: line?.host === undefined ? `only ${host} counted a request` : `${host} ${BY_LOG}` };
}

/** Proves a refusal if the station's message contains the outcome in the access log, such as `503 UH`. */
function refusal({ result, message }: Station, { line }: Trail): Proof | undefined {
  const { outcome, flags } = line ?? {};
  if (result !== "error" || outcome === undefined || flags === undefined) return undefined;
  return message.includes(outcome) ? { passed: true, message: `the response was ${outcome}, ${BY_LOG}` } : undefined;
}

/**
 * Returns the probe's changes to the answer. The verdict is unknown if the request missed a station; otherwise it
 * follows from the outcome of the request.
 */
function endOf(trail: Trail, proofs: readonly (Proof | undefined)[]): Partial<Answer> {
  const { answer: { stations } } = trail;
  if (isElsewhere(trail)) return {};
  const missed = proofs.findIndex((proof) => proof?.passed === false);
  if (missed < 0) return verdictOf(trail);
  return unsure(`the probe did not use the expected ${stations[missed]?.kind}: ${proofs[missed]?.message}`);
}

function verdictOf(trail: Trail): Partial<Answer> {
  const { answer: { verdict }, sent, line, isForwarded } = trail;
  if (verdict === "refused" && isForwarded) return unsure(`the probe was not refused: the response was ${sent.status}`);
  if (verdict === "unknown" && (isForwarded || isConnected(line))) return { verdict: "reaches", ...arrived(trail) };
  if (verdict !== "reaches") return {};
  if (sent.failure !== "") return unsure(`the probe got no response: ${sent.failure}`);
  return isForwarded ? {} : ownAnswer(line);
}

/** Whether the access log line names an endpoint, without a response flag or a denial. */
function isConnected(line: LogLine | undefined): boolean {
  return line?.host !== undefined && line.flags === undefined && !isDenied(line);
}

function arrived({ line, hosts, sent: { status } }: Trail): Pick<Answer, "reason" | "fix"> {
  const host = line?.host ?? hosts?.[0]?.address ?? "an endpoint";
  return { reason: `The probe reached ${host}${status === 0 ? "" : `, and the response was ${status}`}`, fix: "" };
}

/** Returns the verdict `refused` if Envoy itself responded with an error; or else no change. */
function ownAnswer(line: LogLine | undefined): Partial<Answer> {
  if (line?.outcome === undefined) return {};
  const why = isDenied(line) ? `: ${line.details}` : "";
  if (line.flags === undefined && why === "") return {};
  return { verdict: "refused", reason: `Envoy itself responded to the probe with ${line.outcome}${why}`, fix: "" };
}

function unsure(message: string): Partial<Answer> {
  return { verdict: "unknown", reason: sentence(message), fix: "" };
}

function resultText({ sent: { local, status, failure } }: Trail): string {
  if (local === undefined) return `not sent: ${failure || "no connection"}`;
  const result = failure || (status === 0 ? "connected" : `the response is ${status}`);
  return `sent from ${joinHostPort(local.address, local.port)}: ${result}`;
}

function insideText(trail: Trail): string {
  if (trail.answer.direction === "outbound") return "";
  const { sent: { local }, evidence: { connection }, accepted } = trail;
  const where = accepted === undefined
    ? "there is no evidence that Envoy"
    : `port ${accepted.local.port}, which is not Envoy's,`;
  if (isElsewhere(trail)) return `${where} accepted the request`;
  return `the request came from ${local?.address} in plain text and matched another kernel rule: a probe cannot use the ` +
    `address ${connection.host}`;
}

function unprovedTexts(trail: Trail, open: readonly StationKind[]): string[] {
  const { evidence, line, hosts, accepted, sent } = trail;
  if (open.length === 0) return [];
  const clusters = new Set(hosts?.map(({ cluster }) => cluster)).size;
  const isUncounted = sent.status !== 0 && hosts === undefined;
  return [
    `not proved: ${[...new Set(open)].join(", ")}`,
    insideText(trail),
    open.includes("kernel") && accepted === undefined ? "the connection was closed before its sockets were read" : "",
    line === undefined ? evidence.log.message ?? "the access log does not contain the request" : "",
    line === undefined && isUncounted ? "no counter shows that Envoy forwarded the request" : "",
    clusters > 1 ? `other traffic: ${clusters} clusters counted requests at the same time` : "",
  ].filter((text) => text !== "");
}
