/** The server's end of a connection: the stations in the pod behind an endpoint, for a known client. */
import { mapAt, mapsAt, textAt } from "../../base/value.ts";
import { hostAndPort } from "../address.ts";
import type { Cause } from "../resources/cause.ts";
import type { OpenAnswer } from "../resources/decided.ts";
import type { Answer, Station } from "../answer_schema.ts";
import { type Truth, truthOf } from "../rules/truth.ts";
import { answerWith } from "../connection/answer.ts";
import { passing, refusing, sentence, type Step, unsure } from "../connection/connection_path.ts";
import { type Facts, factsOf } from "../connection/facts.ts";
import { portStep } from "../connection/port_step.ts";
import { ambientSteps } from "./ambient_end.ts";
import type { Connection, Peer } from "../question/question.ts";
import { configurationVersion, isNewer } from "../summary/configuration.ts";
import { issuersOf } from "../summary/certificate.ts";
import { jsonOf } from "../snapshot/json_part.ts";
import { podText, type Snapshot } from "../snapshot/snapshot.ts";

/** The snapshot of the pod behind an endpoint, or why the pod is unknown. */
export type OtherEnd = {
  readonly snapshot: Snapshot;
  /** The snapshot in typed form, if already read. */
  readonly facts?: Facts;
  readonly why?: undefined;
  readonly isOutside?: undefined;
} | {
  readonly snapshot?: undefined;
  readonly why: string;
  /** Whether none of the listed pods has the address. */
  readonly isOutside?: boolean;
};

/** The part of the answer that is about one endpoint: verdict and stations. */
export interface ServerEnd extends Pick<OpenAnswer, "verdict" | "reason" | "fix" | "cause"> {
  readonly pod: string;
  readonly stations: readonly Station[];
  /** For a gateway: the connection that the gateway itself opens to the pods behind it. */
  readonly next?: { readonly answer: OpenAnswer; readonly facts: Facts } | undefined;
}

/** The client's side of the connection to an endpoint. */
interface ClientEnd extends Trust {
  readonly connection: Connection;
  /** The client's address; empty if unknown. */
  readonly address: string;
  readonly peer: Peer;
  /** Version of the client's configuration; empty if unknown. */
  readonly version: string;
}

/** Port on which a waypoint terminates tunnels. `explain` does not follow the listeners behind this port. */
const TUNNELS = ":15008";

/** Prefix of the clusters to which a gateway forwards TLS without terminating it: `outbound_.80_._.HOST`. */
const PASSED_ON = "outbound_.";

/** Returns the server's end for the endpoint at `ADDRESS:PORT`. */
export function serverEnd(client: ClientEnd, endpoint: string, other: OtherEnd): ServerEnd {
  if (other.snapshot === undefined) {
    const message = `the pod behind ${endpoint} is unknown: ${other.why}`;
    return ending("", [unsure("pod", { name: endpoint, message })]);
  }
  const { snapshot, facts = factsOf(snapshot) } = other;
  const pod = podStep(facts, endpoint);
  const problem = identityStep(client, facts);
  const first = problem === undefined ? [pod] : [pod, problem];
  if (facts.pod?.isAmbient === true && facts.pod.proxy === undefined) {
    return ending(podText(snapshot.pod), [...first, ...ambientSteps(client, facts, endpoint)]);
  }
  if (facts.pod !== undefined && facts.pod.proxy === undefined) {
    return ending(podText(snapshot.pod), [pod, withoutProxy(client.peer), portStep(facts, endpoint)]);
  }
  return envoyEnd(client, endpoint, facts, first);
}

/** Returns the end at a pod with Envoy. `first` contains the steps before the steps in Envoy. */
function envoyEnd(client: ClientEnd, endpoint: string, facts: Facts, first: readonly Step[]): ServerEnd {
  const own = ending(podText(facts.snapshot.pod), first);
  if (client.peer.isTunnel && endpoint.endsWith(TUNNELS)) {
    const message = "the path of the tunneled connection through the waypoint or gateway is unknown";
    return ending(own.pod, [...first, unsure("listener", { message })]);
  }
  const { stations, ...answer } = answerWith(facts, inboundOf(client, endpoint));
  if (answer.clusters.some(({ name }) => name.startsWith(PASSED_ON))) {
    const message = "the gateway forwards TLS unchanged (AUTO_PASSTHROUGH): the pod that terminates it is unknown";
    return ending(own.pod, [...first.slice(0, 1), unsure("listener", { message })]);
  }
  const all = [...own.stations, ...stations];
  if (own.verdict === "refused") return { ...own, stations: all };
  if (answer.verdict === "bypasses") {
    return { ...pastProxy(client.peer, answer, stations), pod: own.pod, stations: all };
  }
  if (own.verdict === "unknown" && answer.verdict === "reaches") return { ...own, stations: all };
  const { verdict, cause, fix } = answer;
  const end = { pod: own.pod, stations: all, verdict, reason: reasonOf(answer, client, facts), fix, cause };
  return isGateway(answer.clusters) ? beyond(end, { ...answer, stations }, facts) : end;
}

/** If the TLS modes of the two sides differ, adds to the reason which side has the older configuration. */
function reasonOf({ reason, cause }: Pick<OpenAnswer, "reason" | "cause">, client: ClientEnd, facts: Facts): string {
  const older = cause?.kind === "PeerAuthentication" ? versionText(client, facts) : "";
  return older === "" ? reason : `${reason}; ${older}`;
}

/** Whether the clusters lead to other pods. The inbound clusters of a sidecar stay in its pod. */
function isGateway(clusters: Answer["clusters"]): boolean {
  return clusters.some(({ name }) => name.startsWith("outbound"));
}

/** Splits the stations of a gateway. From its route or cluster on, it acts as a client of the next pods. */
function beyond(end: ServerEnd, answer: OpenAnswer, facts: Facts): ServerEnd {
  const at = answer.stations.findIndex(({ kind }) => kind === "route" || kind === "cluster");
  const client = answer.stations.slice(at);
  const before = end.stations.slice(0, end.stations.length - client.length);
  return at < 1 ? end : { ...end, stations: before, next: { answer: { ...answer, stations: client }, facts } };
}

/** Says which side has the older configuration, from istiod's versions; empty if they are equal or unknown. */
function versionText({ version }: ClientEnd, facts: Facts): string {
  const own = versionOf(facts);
  if (version === "" || own === "" || version === own) return "";
  const [older, other, old, now] = isNewer(own, version)
    ? ["client", "server", version, own]
    : ["server", "client", own, version];
  return `the ${older}'s configuration of ${old} is older than the ${other}'s of ${now}: it may lack the latest change`;
}

/** Returns the connection as the server's pod receives it. The default Host header is the client's destination. */
function inboundOf({ connection, address, peer }: ClientEnd, endpoint: string): Connection {
  const { host, port, headers } = connection;
  const hasHost = headers.some(({ name }) => name === "host" || name === ":authority");
  const authority = { name: "host", value: port === 80 ? host : `${host}:${port}` };
  return {
    ...connection,
    direction: "inbound",
    host: address,
    port: hostAndPort(endpoint)?.port ?? port,
    headers: hasHost ? headers : [...headers, authority],
    peer,
  };
}

/** Returns the pod step. If the pod is not ready, the client's Envoy still has an outdated endpoint. */
function podStep({ snapshot }: Facts, endpoint: string): Step {
  const name = podText(snapshot.pod);
  const object = jsonOf(snapshot.parts["pod.json"], "pod.json").value;
  if (object === undefined) return passing("pod", { name, message: `pod ${name} has the address of ${endpoint}` });
  const status = mapAt(object, "status");
  const ready = mapsAt(status, "conditions").find((each) => textAt(each, "type") === "Ready");
  const isDeleted = textAt(mapAt(object, "metadata"), "deletionTimestamp") !== "";
  if (!isDeleted && textAt(ready ?? {}, "status") === "True") {
    return passing("pod", { name, message: `pod ${name} has the address of ${endpoint} and is ready` });
  }
  const state = isDeleted ? "is being deleted" : "is not ready";
  const why = textAt(ready ?? {}, "message");
  return passing("pod", {
    name,
    result: "warning",
    message: `pod ${name} ${state}${why === "" ? "" : ` (${why})`}, and the client still lists it as an endpoint`,
  });
}

/** Returns the TLS step of a pod without a proxy, which cannot terminate mutual TLS. */
function withoutProxy({ tls, rule }: Peer): Step {
  if (tls !== "mutual") return passing("tls", { message: "the pod has no proxy: the application receives plain text" });
  return nobodyEnds("the pod has no proxy", rule);
}

function nobodyEnds(why: string, rule: Cause | undefined): Step {
  const message = `${why}, but the client uses mutual TLS: the application cannot terminate it`;
  const fix = "set trafficPolicy.tls.mode of the DestinationRule to DISABLE, or inject the server's pod";
  return refusing("tls", { message }, fix, rule);
}

function pastProxy(
  { tls, rule }: Peer,
  { reason }: Pick<Answer, "reason">,
  stations: readonly Station[],
): Pick<ServerEnd, "verdict" | "reason" | "fix" | "cause"> {
  if (tls === "mutual") {
    const { end } = nobodyEnds(`the connection bypasses the server's proxy: ${reason}`, rule);
    if (end !== undefined) return end;
  }
  const { result = "unknown", message = "it is unknown whether a process listens" } =
    stations.find(({ kind }) => kind === "port") ?? {};
  if (result === "unknown") return { verdict: "unknown", reason: sentence(message), fix: "" };
  return result === "error"
    ? { verdict: "refused", reason: sentence(message), fix: "start the application on this port" }
    : { verdict: "reaches", reason: "It reaches the application and bypasses the server's proxy", fix: "" };
}

/** Returns the step for an unexpected server identity, or for a certificate that the other side does not trust. */
function identityStep({ peer, ...client }: ClientEnd, facts: Facts): Step | undefined {
  const { identity } = facts.certificate;
  if (peer.tls === "mutual" && identity !== "" && peer.expects.length > 0 && !peer.expects.includes(identity)) {
    const message = `the server's certificate is for ${identity}, but the client expects ${peer.expects.join(" or ")}`;
    const fix = "correct subjectAltNames of the DestinationRule, or the service account of the server's pods";
    return refusing("tls", { message }, fix, peer.rule);
  }
  if (peer.tls === "mutual" && peer.certificate !== undefined) {
    const message =
      `it is unknown whether the server accepts the client's own certificate "${peer.certificate}", which is not the mesh's`;
    return unsure("tls", { message });
  }
  return peer.tls === "mutual" ? trustStep(client, trustOf(facts)) : undefined;
}

/** Root certificates that a side trusts, as `SUBJECT until DAY`, and the issuers of its own certificate; empty if unknown. */
export interface Trust {
  readonly roots: ReadonlySet<string>;
  readonly issuers: ReadonlySet<string>;
}

/** Returns the step if a side does not, or may not, trust the issuer of the other side's certificate. */
export function trustStep(client: Trust, server: Trust): Step | undefined {
  if (client.roots.size === 0 || server.roots.size === 0) return undefined;
  const isOne = [...server.roots].some((each) => client.roots.has(each));
  const [ofClient, ofServer] = [trustIn(client, server, isOne), trustIn(server, client, isOne)];
  if (ofClient === "yes" && ofServer === "yes") return undefined;
  if (isOne && ofClient === "no") return untrusted(signedText("client", client, "server"));
  if (isOne && ofServer === "no") return untrusted(signedText("server", server, "client"));
  const trusts = `the client trusts ${[...client.roots].join(", ")}, the server ${[...server.roots].join(", ")}`;
  if ([ofClient, ofServer].includes("no")) return untrusted(`the certificates have no common root: ${trusts}`);
  const message =
    "it is unknown whether the client and the server have the same root: the roots have the same name, but expire " +
    `on different days: ${trusts}`;
  return unsure("tls", { message });
}

/** Whether the second side trusts the issuer of the first side's certificate. */
function trustIn({ roots: own, issuers }: Trust, { roots }: Trust, isOne: boolean): Truth {
  if (issuers.size === 0) return truthOf(isOne);
  const signers = (all: Trust["roots"]) => [...all].filter((root) => issuers.has(root.replace(/ until [\d-]+$/, "")));
  const trusted = signers(roots);
  // All roots that Istio generates have the same name. Assume that a side trusts the root that signed its certificate.
  const named = signers(own);
  if (trusted.length === 0) return "no";
  return named.length === 0 || trusted.some((each) => named.includes(each)) ? "yes" : "unknown";
}

function untrusted(message: string): Step {
  const fix = "give both control planes the same root (the Secret cacerts), or add it to meshConfig.caCertificates";
  return refusing("tls", { message }, fix);
}

function signedText(own: string, { issuers }: Trust, other: string): string {
  return `the ${own}'s certificate is signed by ${[...issuers].join(", ")}, which the ${other} does not trust`;
}

/** Returns the root certificates that a pod trusts, and the issuers of its certificate and of its intermediates. */
export function trustOf({ certificate: { issuer, roots }, config }: Facts): Trust {
  const texts = roots.map(({ subject, notAfter }) => `${subject} until ${notAfter.slice(0, 10)}`);
  return { roots: new Set(issuer === "" ? [] : texts), issuers: issuersOf(config) };
}

/** Returns the version of a pod's configuration; empty if unknown. */
export function versionOf({ config }: Facts): string {
  return config === undefined ? "" : configurationVersion(config);
}

/** Returns the result for the server's side: the first step that ends the connection, or else the first unknown step. */
function ending(pod: string, steps: readonly Step[]): ServerEnd {
  const stations = steps.map(({ station }): Station => ({ ...station, pod, side: "server" }));
  const open = stations.find(({ result }) => result === "unknown");
  const end = steps.find((step) => step.end !== undefined)?.end ??
    (open === undefined
      ? { verdict: "reaches", reason: "It reaches the application", fix: "" } as const
      : { verdict: "unknown", reason: sentence(open.message), fix: "" } as const);
  return { pod, stations, ...end };
}
