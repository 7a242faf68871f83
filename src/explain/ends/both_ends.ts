/** Answers for both ends: the client's stations, then the stations of the pods behind the endpoints. */
import { joinHostPort } from "../../golang/net/mod.ts";
import { hostAndPort } from "../address.ts";
import type { Answer, Detail, Station } from "../answer_schema.ts";
import { destinationOf } from "../connection/destination.ts";
import { lowered } from "../connection/connection_path.ts";
import type { Facts } from "../connection/facts.ts";
import { injectionCheck } from "../pod.ts";
import { podText } from "../snapshot/snapshot.ts";
import { serviceAt } from "../names/services.ts";
import { type Cause, policyCause } from "../resources/cause.ts";
import type { OpenAnswer } from "../resources/decided.ts";
import type { Connection, Peer } from "../question/question.ts";
import { type OtherEnd, type ServerEnd, serverEnd, trustOf, versionOf } from "./server_end.ts";

/** Finds the pods that have the addresses of endpoints. */
export interface Ends {
  /** Whether only pods in the client's cluster can be read. */
  readonly isOneCluster: boolean;
  /** Returns the pod with this address. `namespace` is a guess from the service's name. */
  podAt(address: string, namespace: string | undefined): Promise<OtherEnd>;
  /** Returns endpoints from the API server, for a client without a proxy; a string is the reason for a failure. */
  endpointsOf(host: string, port: number, namespace: string): Promise<readonly string[] | string>;
}

/** Maximum number of server pods to read, one at a time. Each snapshot is as large as the client's. */
const MAX_ENDS = 10;

/** Follows the connection into the pods behind its endpoints. Without such pods, returns the client's answer. */
export async function withOtherEnds(
  answer: OpenAnswer,
  facts: Facts,
  asked: Connection,
  ends: Ends,
): Promise<OpenAnswer> {
  return await followed(answer, facts, { asked, ends, hops: 0 });
}

/** The connection to follow, how to find pods, and the number of gateways passed. */
interface Following {
  readonly asked: Connection;
  readonly ends: Ends;
  readonly hops: number;
}

async function followed(answer: OpenAnswer, facts: Facts, following: Following): Promise<OpenAnswer> {
  const { asked, ends } = following;
  const client = goingOn(answer, facts, asked);
  if (client === undefined) return answer;
  const addresses = await targetsOf(client, facts, asked, ends);
  if (typeof addresses === "string") return { ...answer, reason: `${answer.reason}; ${addresses}` };
  if (addresses.length === 0) return answer;
  const namespace = namespaceOf(client);
  const end = { connection: asked, ...trustOf(facts), version: versionOf(facts) };
  const read: ServerEnd[] = [];
  for (const address of addresses.slice(0, MAX_ENDS)) {
    const host = hostOf(address);
    const other = remoteEnd(client, address, ends) ?? await ends.podAt(host, namespace);
    // Only endpoints of a Kubernetes Service are always pods.
    if (namespace === undefined && other.isOutside === true) return answer;
    const peer = peerOf(client, facts, address);
    const own = { ...end, address: addressTo(host, facts), peer: peer ?? PLAIN };
    read.push(await throughGateway(serverEnd(own, address, peer === undefined ? UNJUDGED : other), following));
  }
  return joined(client, read, addresses.length);
}

function hostOf(address: string): string {
  return hostAndPort(address)?.host ?? address;
}

/** Maximum number of gateways to follow on one connection. */
const MAX_HOPS = 3;
const TOO_FAR = { verdict: "unknown", reason: `It goes through more than ${MAX_HOPS} gateways`, fix: "" } as const;

/** Follows the connection through a gateway that terminates TLS, such as an egress gateway, to the pods behind it. */
async function throughGateway(end: ServerEnd, following: Following): Promise<ServerEnd> {
  const { next, ...own } = end;
  if (next === undefined) return own;
  if (following.hops === MAX_HOPS) return own.verdict === "reaches" ? { ...own, ...TOO_FAR } : own;
  const deeper = { ...following, hops: following.hops + 1 };
  const { verdict, reason, fix, cause, stations } = await followed(next.answer, next.facts, deeper);
  const all = [...own.stations, ...stations];
  return { ...own, verdict, reason: `Through the gateway ${own.pod}: ${lowered(reason)}`, fix, cause, stations: all };
}

/** Returns the end for an endpoint in another mesh cluster. A pod in this cluster can have the same address. */
function remoteEnd({ stations }: Answer, address: string, { isOneCluster }: Ends): OtherEnd | undefined {
  const all = stations.flatMap(({ kind, detail }) => kind === "endpoint" ? textsOf(detail["elsewhere"]) : []);
  const where = all.find((each) => each.startsWith(`${address} `))?.slice(address.length + 1);
  return where === undefined || !isOneCluster ? undefined : { why: `it is ${where}, and only this cluster is read` };
}

function textsOf(value: Detail[string] | undefined): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** Returns the client's address in the IP family of the endpoint; empty if the client's addresses are unknown. */
function addressTo(endpoint: string, { addresses }: Facts): string {
  return addresses.find((each) => each.includes(":") === endpoint.includes(":")) ?? addresses[0] ?? "";
}

/** Returns the client's answer if the connection continues to an endpoint, or if only the endpoint is in doubt. */
function goingOn(answer: OpenAnswer, { pod }: Facts, { direction }: Connection): OpenAnswer | undefined {
  if (direction !== "outbound" || answer.stations.some(({ detail }) => detail["hostNetwork"] === true)) {
    return undefined;
  }
  if (answer.verdict === "reaches" || answer.verdict === "bypasses") return answer;
  if (isUnproxied(pod)) return plainClient(answer);
  if (!isLeftToEndpoint(answer)) return undefined;
  const [endpoint] = answer.endpoints;
  const reason = `It continues to ${endpoint?.address}`;
  return { ...answer, verdict: "reaches", reason, stations: answer.stations.map(known), cause: undefined };
}

function isLeftToEndpoint({ verdict, endpoints, stations, probe }: Answer): boolean {
  const open = stations.filter(({ result }) => result === "unknown");
  return verdict === "unknown" && probe === undefined && endpoints.length > 0 && open.length > 0 &&
    open.every(({ kind }) => kind === "endpoint");
}

function known(station: Station): Station {
  if (station.result !== "unknown") return station;
  const message = `${station.name}: Envoy connects there without service discovery`;
  return { ...station, result: "ok", source: "planned", message };
}

/** Returns the answer for a client pod without a proxy, which connects directly, in plain text. */
function plainClient(answer: OpenAnswer): OpenAnswer {
  const stations = answer.stations.filter(({ kind }) => kind === "application");
  const reason = "The client's pod has no proxy: it connects in plain text";
  return { ...answer, verdict: "bypasses", reason, stations, cause: undefined };
}

/** Returns the endpoints as `ADDRESS:PORT`. If the connection bypasses the proxy, kube-proxy chooses an endpoint. */
async function targetsOf(
  { verdict, endpoints }: Answer,
  facts: Facts,
  asked: Connection,
  ends: Ends,
): Promise<readonly string[] | string> {
  if (verdict !== "bypasses") return endpoints.map(({ address }) => address);
  const { address } = destinationOf(facts, asked);
  const { config, names } = facts;
  if (address === undefined || config === undefined) {
    return await ends.endpointsOf(asked.host, asked.port, facts.namespace);
  }
  const service = serviceAt(config, names, address);
  const hosts = service === undefined ? [] : config.status(`outbound|${asked.port}||${service.host}`)?.hosts ?? [];
  return hosts.length > 0
    ? hosts.map((host) => joinHostPort(host.address.address, host.address.port))
    : [joinHostPort(address, asked.port)];
}

const PLAIN: Peer = { tls: "plain", isTunnel: false, isHttp: false, sni: "", identity: undefined, expects: [] };

/** The end for an endpoint if it is unknown whether the client uses TLS to that endpoint. */
const UNJUDGED: OtherEnd = { why: "it is unknown whether the client uses TLS to it" };

/** Returns the TLS and the identity with which the client's pod connects to an endpoint; `undefined` if unknown. */
function peerOf({ verdict, stations }: Answer, facts: Facts, endpoint: string): Peer | undefined {
  const { certificate } = facts;
  const isHttp = stations.some(({ kind }) => kind === "route");
  const isTunnel = stations.some(({ detail }) => isListed(detail["tunnelTo"], endpoint));
  const own = stations.filter(({ kind }) => kind === "tls");
  // Behind an internal listener, the last TLS station is for the tunnel.
  const all = isTunnel
    ? own.slice(-1)
    : own.filter(({ detail }) => detail["mode"] === undefined || detail["tunnelTo"] === undefined);
  const [tls] = all;
  if (verdict === "bypasses" || tls === undefined) return { ...PLAIN, isHttp, ...unproxied(facts) };
  const [mode, ...others] = new Set(all.map(({ detail }) => modeTo(endpoint, detail)));
  if (mode === undefined || others.length > 0) return undefined;
  const rule = ruleOf(stations, tls);
  if (mode === "plain") return { ...PLAIN, isHttp, rule };
  const expects = exactNames(tls.detail["names"]);
  return { tls: mode, isTunnel, isHttp, sni: tls.name, ...shownBy(tls, certificate), expects, rule };
}

function isUnproxied(pod: Facts["pod"]): boolean {
  return pod !== undefined && pod.proxy === undefined && !pod.isAmbient;
}

/** Returns how to find out why the client's pod has no proxy, if it has none. */
function unproxied({ pod, config, namespace, snapshot }: Facts): Pick<Peer, "proxyFix"> {
  if (config !== undefined || !isUnproxied(pod)) return {};
  const check = injectionCheck(namespace, snapshot.pod.name);
  return { proxyFix: `find out why ${podText(snapshot.pod)} has no proxy: ${check}` };
}

/** Returns what the client presents: the user's own certificate, or the identity in the workload's certificate. */
function shownBy({ detail }: Station, { identity }: Facts["certificate"]): Pick<Peer, "certificate" | "identity"> {
  const certificate = detail["certificate"];
  if (typeof certificate === "string") return { certificate, identity: undefined };
  return { identity: identity === "" ? undefined : identity };
}

/** Returns the DestinationRule that sets the TLS mode; `undefined` if the endpoint's metadata selects the mode. */
function ruleOf(stations: readonly Station[], tls: Station): Cause | undefined {
  const cluster = stations.find(({ kind }) => kind === "cluster");
  const origin = String(cluster?.detail["from"] ?? "");
  if (cluster === undefined || !origin.startsWith("DestinationRule ") || (tls.detail["match"] ?? "") !== "") {
    return undefined;
  }
  return policyCause(cluster.name, origin, "tls");
}

const MODES = ["mutual", "simple", "plain"] as const;

/** Returns the TLS mode of an endpoint. Endpoints of one cluster can have different modes. */
function modeTo(endpoint: string, detail: Detail): Peer["tls"] | undefined {
  return MODES.find((mode) => detail["mode"] === mode || isListed(detail[mode], endpoint));
}

function isListed(list: Detail[string] | undefined, endpoint: string): boolean {
  return Array.isArray(list) && list.includes(endpoint);
}

/** Returns the exact names; empty if any name is a pattern. */
function exactNames(names: unknown): string[] {
  const exact = Array.isArray(names) ? names.map((name) => /^is "(.*)"$/.exec(String(name))?.[1] ?? "") : [];
  return exact.includes("") ? [] : exact;
}

/** Returns the namespace in a cluster name such as `outbound|80||catalog.shop.svc.cluster.local`, or in a ztunnel host. */
function namespaceOf({ clusters }: Answer): string | undefined {
  return /(?:^|\|)[^|.]+\.([^|.]+)\.svc\./.exec(clusters[0]?.name ?? "")?.[1];
}

const ORDER: readonly Answer["verdict"][] = ["refused", "unknown", "bypasses", "reaches"];

/** Groups endpoints by answer. The worst group gives the verdict; the reason also counts endpoints in other groups. */
function joined(client: OpenAnswer, read: readonly ServerEnd[], count: number): OpenAnswer {
  const sorted = [...Map.groupBy(read, keyOf).values()].sort((a, b) => rank(a[0]) - rank(b[0]));
  const worst = sorted[0]?.[0];
  if (worst === undefined) return client;
  const stations = [...client.stations, ...sorted.flatMap(([first]) => first?.stations ?? [])];
  // The probe's result is better evidence than the server's configuration.
  if (client.probe?.isSent === true) return { ...client, stations };
  const left = count > read.length ? `; ${count - read.length} of ${count} endpoints were not read` : "";
  if (worst.verdict === "reaches") return { ...client, ...reached(client, read, left), stations };
  const others = sorted.slice(1).map((group) =>
    `${group.length} of ${read.length} ${VERBS[group[0]?.verdict ?? "unknown"]}`
  );
  const who = sorted.length === 1 ? "" : `${worst.pod === "" ? "an endpoint" : worst.pod} ${VERBS[worst.verdict]}: `;
  const reason = `${[...others, `${who}${worst.reason}`].join("; ")}${left}`;
  return { ...client, verdict: worst.verdict, reason, fix: worst.fix, cause: worst.cause, stations };
}

/** Returns the verdict if all pods that were read accept the connection. `left` says how many were not read. */
function reached(client: OpenAnswer, read: readonly ServerEnd[], left: string): Pick<Answer, "verdict" | "reason"> {
  const concern = read.flatMap(({ stations }) => stations).find(({ result }) => result === "warning")?.message ?? "";
  const reason = `${client.reason}; ${endText(read)}${concern === "" ? "" : `, but ${concern}`}${left}`;
  return { verdict: left === "" ? client.verdict : "unknown", reason };
}

const VERBS: Readonly<Record<Answer["verdict"], string>> = {
  reaches: "reach",
  refused: "refuses",
  bypasses: "bypass the proxy",
  unknown: "cannot be decided",
};

function endText(read: readonly ServerEnd[]): string {
  const names = read.map(({ pod }) => pod);
  return names.length === 1 ? `pod ${names[0]} accepts it` : `${names.length} pods accept it`;
}

function rank(end: ServerEnd | undefined): number {
  return ORDER.indexOf(end?.verdict ?? "unknown");
}

/** Returns the key that endpoints of one group share, without names and addresses, which differ between replicas. */
function keyOf({ verdict, stations }: ServerEnd): string {
  return `${verdict} ${stations.map(({ kind, result }) => `${kind}:${result}`).join(" ")}`;
}
