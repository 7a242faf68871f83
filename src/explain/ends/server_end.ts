/** The server's end of a connection: the stations in the pod behind an endpoint, for a known client. */
import { mapAt, mapsAt, textAt } from "../../base/value.ts";
import { splitHostPort } from "../../golang/net/mod.ts";
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

/** The pod behind an endpoint, or why it is not known. */
export type OtherEnd = {
  readonly snapshot: Snapshot;
  /** Facts that are already read from the snapshot. */
  readonly facts?: Facts;
  readonly why?: undefined;
  readonly isOutside?: undefined;
} | {
  readonly snapshot?: undefined;
  readonly why: string;
  /** No listed pod has the address. */
  readonly isOutside?: boolean;
};

/** How an endpoint answers. */
export interface ServerEnd extends Pick<OpenAnswer, "verdict" | "reason" | "fix" | "cause"> {
  readonly pod: string;
  readonly stations: readonly Station[];
  /** The pod is a gateway, which connects to other pods: its side as a client. */
  readonly next?: { readonly answer: OpenAnswer; readonly facts: Facts } | undefined;
}

/** What the client's side knows of the connection to an endpoint. */
export interface ClientEnd {
  readonly connection: Connection;
  /** The client's address; empty if unknown. */
  readonly address: string;
  readonly peer: Peer;
  /** The authorities that the client trusts. */
  readonly roots: ReadonlySet<string>;
  /** Who signed the client's certificate; empty if unknown. */
  readonly issuers: ReadonlySet<string>;
  /** Of the client's configuration; empty if unknown. */
  readonly version: string;
}

/** The port at which a waypoint ends tunnels. Its listeners for them are not followed. */
const TUNNELS = ":15008";

/** Istio's names for clusters to which a gateway passes TLS on without ending it: `outbound_.80_._.HOST`. */
const PASSED_ON = "outbound_.";

/** The server's end at `ADDRESS:PORT`. */
export function serverEnd(client: ClientEnd, endpoint: string, other: OtherEnd): ServerEnd {
  if (other.snapshot === undefined) {
    const message = `the pod behind ${endpoint} is not known: ${other.why}`;
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
  return envoyEnd(client, endpoint, { facts, first });
}

interface Begun {
  readonly facts: Facts;
  readonly first: readonly Step[];
}

/** The end at a pod's Envoy, after the first stations. */
function envoyEnd(client: ClientEnd, endpoint: string, { facts, first }: Begun): ServerEnd {
  const own = ending(podText(facts.snapshot.pod), first);
  if (client.peer.isTunnel && endpoint.endsWith(TUNNELS)) {
    const message = "what the waypoint or gateway does with the connection in the tunnel is not known";
    return ending(own.pod, [...first, unsure("listener", { message })]);
  }
  const { stations, ...answer } = answerWith(facts, inboundOf(client, endpoint));
  if (answer.clusters.some(({ name }) => name.startsWith(PASSED_ON))) {
    const message = "the gateway passes TLS on (AUTO_PASSTHROUGH): what the pod that ends it does is not known";
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

/** If Istio chose the client's TLS by the server's mode and the two differ, one side has not got a change. */
function reasonOf({ reason, cause }: Pick<OpenAnswer, "reason" | "cause">, client: ClientEnd, facts: Facts): string {
  const older = cause?.kind === "PeerAuthentication" ? versionText(client, facts) : "";
  return older === "" ? reason : `${reason}; ${older}`;
}

/** Clusters of other pods: an inbound connection of a sidecar stays in its pod. */
function isGateway(clusters: Answer["clusters"]): boolean {
  return clusters.some(({ name }) => name.startsWith("outbound"));
}

/** The end of a gateway: from its route, or its cluster, on it is a client. */
function beyond(end: ServerEnd, answer: OpenAnswer, facts: Facts): ServerEnd {
  const at = answer.stations.findIndex(({ kind }) => kind === "route" || kind === "cluster");
  const client = answer.stations.slice(at);
  const before = end.stations.slice(0, end.stations.length - client.length);
  return at < 1 ? end : { ...end, stations: before, next: { answer: { ...answer, stations: client }, facts } };
}

/** Which side may not have got a change yet: istiod gives a version to each push. */
function versionText({ version }: ClientEnd, { config }: Facts): string {
  const own = config === undefined ? "" : configurationVersion(config);
  if (version === "" || own === "" || version === own) return "";
  const [older, other, old, now] = isNewer(own, version)
    ? ["client", "server", version, own]
    : ["server", "client", own, version];
  return `the ${older}'s configuration of ${old} is older than the ${other}'s of ${now}: it may not have the last change`;
}

/** The connection as the server's pod receives it. The default Host header is the client's destination. */
function inboundOf({ connection, address, peer }: ClientEnd, endpoint: string): Connection {
  const parts = splitHostPort(endpoint);
  const { host, port, headers } = connection;
  const hasHost = headers.some(({ name }) => name === "host" || name === ":authority");
  const authority = { name: "host", value: port === 80 ? host : `${host}:${port}` };
  return {
    ...connection,
    direction: "inbound",
    host: address,
    port: typeof parts === "string" ? port : Number(parts.port),
    headers: hasHost ? headers : [...headers, authority],
    peer,
  };
}

/** The pod's station. If the pod is not ready, the client's Envoy still has an old endpoint. */
function podStep({ snapshot }: Facts, endpoint: string): Step {
  const name = podText(snapshot.pod);
  const object = jsonOf(snapshot.parts["pod.json"], "pod.json").value;
  if (object === undefined) return passing("pod", { name, message: `pod ${name} has the address of ${endpoint}` });
  const status = mapAt(object, "status");
  const ready = mapsAt(status, "conditions").find((each) => textAt(each, "type") === "Ready");
  const isDeleted = textAt(mapAt(object, "metadata"), "deletionTimestamp") !== "";
  if (!isDeleted && textAt(ready ?? {}, "status") === "True") {
    return passing("pod", { name, message: `pod ${name} has the address of ${endpoint}, and is ready` });
  }
  const state = isDeleted ? "is being deleted" : "is not ready";
  const why = textAt(ready ?? {}, "message");
  return passing("pod", {
    name,
    result: "warning",
    message: `pod ${name} ${state}${why === "" ? "" : ` (${why})`}, and the client still has it among its endpoints`,
  });
}

/** The TLS station of a pod without a proxy: nothing there terminates mutual TLS. */
function withoutProxy({ tls, rule }: Peer): Step {
  if (tls !== "mutual") return passing("tls", { message: "the pod has no proxy: it gets plain text" });
  return nobodyEnds("the pod has no proxy", rule);
}

function nobodyEnds(why: string, rule: Cause | undefined): Step {
  const message = `${why}, and the client speaks mutual TLS: nobody ends it`;
  const fix = "set trafficPolicy.tls.mode of the DestinationRule to DISABLE, or inject the server's pod";
  return refusing("tls", { message }, fix, rule);
}

/** The verdict if the connection bypasses the server's proxy. */
function pastProxy(
  { tls, rule }: Peer,
  { reason }: Pick<Answer, "reason">,
  stations: readonly Station[],
): Pick<ServerEnd, "verdict" | "reason" | "fix" | "cause"> {
  if (tls === "mutual") {
    const { end } = nobodyEnds(`past the server's proxy: ${reason}`, rule);
    if (end !== undefined) return end;
  }
  const port = stations.find(({ kind }) => kind === "port");
  if (port === undefined || port.result === "unknown") {
    return { verdict: "unknown", reason: sentence(port?.message ?? "whether anything listens is not known"), fix: "" };
  }
  return port.result === "error"
    ? { verdict: "refused", reason: sentence(port.message), fix: "start the application on this port" }
    : { verdict: "reaches", reason: "It reaches the application past the server's proxy", fix: "" };
}

/** Each side trusts its own authorities: without a common one the handshake fails. */
function identityStep({ peer, roots, issuers }: ClientEnd, facts: Facts): Step | undefined {
  const { identity } = facts.certificate;
  if (peer.tls === "mutual" && identity !== "" && peer.expects.length > 0 && !peer.expects.includes(identity)) {
    const message = `the server's certificate is for ${identity}, and the client expects ${peer.expects.join(" or ")}`;
    const fix = "correct subjectAltNames of the DestinationRule, or the service account of the server's pods";
    return refusing("tls", { message }, fix, peer.rule);
  }
  return peer.tls === "mutual"
    ? trustStep({ roots, issuers }, { roots: rootsOf(facts), issuers: issuersOfPod(facts) })
    : undefined;
}

/** The authorities that a side trusts, `SUBJECT until DAY`, and who signed its own certificate; empty if unknown. */
export interface Trust {
  readonly roots: ReadonlySet<string>;
  readonly issuers: ReadonlySet<string>;
}

/** Each side must trust who signed the other's certificate. */
export function trustStep(client: Trust, server: Trust): Step | undefined {
  if (client.roots.size === 0 || server.roots.size === 0) return undefined;
  const isOne = [...server.roots].some((each) => client.roots.has(each));
  const [ofClient, ofServer] = [trustIn(client, server, isOne), trustIn(server, client, isOne)];
  if (ofClient === "no" || ofServer === "no") return untrusted(client, server, { isOne, isClient: ofClient === "no" });
  if (ofClient === "yes" && ofServer === "yes") return undefined;
  const message =
    "whether the client and the server have the same root is not known: the roots have one name, and end " +
    `on different days: the client trusts ${[...client.roots].join(", ")}, the server ${[...server.roots].join(", ")}`;
  return unsure("tls", { message });
}

/** Whether the other side trusts who signed the certificate of a side. */
function trustIn({ roots: own, issuers }: Trust, { roots }: Trust, isOne: boolean): Truth {
  if (issuers.size === 0) return truthOf(isOne);
  const signers = (all: Trust["roots"]) => [...all].filter((root) => issuers.has(root.replace(/ until [\d-]+$/, "")));
  const trusted = signers(roots);
  // Istio gives every root that it makes itself the same name: what the side itself trusts shows which one it is.
  const named = signers(own);
  if (trusted.length === 0) return "no";
  return named.length === 0 || trusted.some((each) => named.includes(each)) ? "yes" : "unknown";
}

interface Untrusted {
  readonly isOne: boolean;
  /** The client's certificate, else the server's. */
  readonly isClient: boolean;
}

function untrusted(client: Trust, server: Trust, { isOne, isClient }: Untrusted): Step {
  const message = isOne
    ? signedText(isClient ? client : server, !isClient)
    : `the certificates have no common root: the client trusts ${[...client.roots].join(", ")}, the server ${
      [...server.roots].join(", ")
    }`;
  const fix = "give both control planes the same root (the Secret cacerts), or add it to meshConfig.caCertificates";
  return refusing("tls", { message }, fix);
}

function signedText({ issuers }: Trust, isServer: boolean): string {
  const [own, other] = isServer ? ["server", "client"] : ["client", "server"];
  return `the ${own}'s certificate is signed by ${[...issuers].join(", ")}, which the ${other} does not trust`;
}

/** Who signed the certificate of a pod, and the intermediates. */
export function issuersOfPod({ config }: Facts): ReadonlySet<string> {
  return issuersOf(config?.sections.get("SecretsConfigDump"));
}

/** The authorities that a pod trusts, as `SUBJECT until DAY`; empty if their names are unknown. */
export function rootsOf({ certificate }: Facts): ReadonlySet<string> {
  if (certificate.issuer === "") return new Set();
  return new Set(certificate.roots.map(({ subject, notAfter }) => `${subject} until ${notAfter.slice(0, 10)}`));
}

/** The answer from the server's steps: the first end decides, else the first unknown step. */
function ending(pod: string, steps: readonly Step[]): ServerEnd {
  const stations = steps.map(({ station }): Station => ({ ...station, pod, side: "server" }));
  const end = steps.find((step) => step.end !== undefined)?.end;
  if (end !== undefined) return { pod, stations, ...end };
  const open = stations.find(({ result }) => result === "unknown");
  return open === undefined
    ? { pod, stations, verdict: "reaches", reason: "It reaches the application", fix: "" }
    : { pod, stations, verdict: "unknown", reason: sentence(open.message), fix: "" };
}
