/**
 * An inbound connection: kernel, port 15006, filter chain, mTLS mode, authorization, route, cluster, the application's
 * port.
 */
import { joinHostPort } from "../../golang/net/mod.ts";
import type { FilterChain } from "../envoy/listener.ts";
import type { Connection, Peer } from "../question/question.ts";
import { type Request, requestOf } from "../rules/request.ts";
import type { Answer } from "../answer_schema.ts";
import { boundListener } from "../rules/listener_search.ts";
import { type Captured, captureInbound } from "./capture_step.ts";
import { throughChain } from "./chain_path.ts";
import { chainStep, type Incoming } from "./chain_step.ts";
import type { Facts } from "./facts.ts";
import { type Inside, type Original, throughPort } from "./listener_step.ts";
import { type Client, CLIENTS, type Mode, modeOf, takes } from "./mode.ts";
import { portStep } from "./port_step.ts";
import { causeIn, causeOf } from "../resources/cause.ts";
import { type ConnectionPath, passing, refusing, type Step } from "./connection_path.ts";

/** Adds the stations of an inbound connection. */
export function inbound(path: ConnectionPath, facts: Facts, connection: Connection): void {
  const { host: source, port } = connection;
  const own = facts.addresses.find((each) => each.includes(":") === source.includes(":")) ?? facts.addresses[0];
  const captured = captureInbound(facts, source, port);
  const original = { address: own, port };
  if (isOwnPort(facts, captured, port)) {
    path.add(passing("kernel", {
      source: "planned",
      message: `the pod has no redirect rules: the connection arrives at port ${port} of its Envoy`,
    }));
    const inside = throughPort(path, facts, port, original);
    // A gateway forwards to other pods: its clusters are outbound.
    if (inside !== undefined) throughListener(path, inside, connection, "outbound");
    return;
  }
  if (!path.add(captured.step) || captured.port === undefined) {
    if (captured.step.end?.verdict === "bypasses") path.note(portStep(facts, joinHostPort(own ?? "0.0.0.0", port)));
    return;
  }
  const inside = throughPort(path, facts, captured.port, original);
  if (inside !== undefined) throughListener(path, inside, connection, "inbound");
}

/** Whether Envoy listens on the port directly, without redirection by the kernel, as in a gateway or a waypoint. */
function isOwnPort({ config, pod, kernel }: Facts, { step }: Captured, port: number): boolean {
  const isCaptured = pod === undefined || pod.capture !== undefined || pod.isHostNetwork ||
    kernel.rules !== undefined && step.end?.verdict !== "bypasses";
  return !isCaptured && config !== undefined && boundListener(config.listeners, port) !== undefined;
}

function throughListener(
  path: ConnectionPath,
  inside: Inside,
  connection: Connection,
  direction: Answer["direction"],
): void {
  const { listener, original, facts } = inside;
  const base = {
    destination: original.address,
    port: original.port,
    source: connection.host,
    isLocal: facts.addresses.includes(connection.host) || /^127\.|^::1$/.test(connection.host),
    sni: connection.peer?.sni ?? connection.sni ?? "",
  };
  const mode = modeOf(listener, base);
  const client = clientOf(mode, connection);
  if (isKnownMisfit(mode, client, connection)) {
    path.add(refusedBy(mode, client, connection, facts));
    return;
  }
  const incoming: Incoming = { ...base, ...CLIENTS[client] };
  const note = `; ${clientText(client, connection)}`;
  const { step, chain } = chainStep(listener, incoming, { note, direction });
  if (!path.add(step) || chain === undefined) return;
  if (!path.add(modeStep(mode, client, { connection, facts }, chain))) return;
  const isMutual = client.startsWith("mutual");
  const request = requestAt(connection, original, isMutual);
  const identity = isMutual ? connection.peer?.identity : "none";
  throughChain(path, inside, { chain, incoming, request, identity, direction });
  if (direction === "inbound") addPorts(path, facts, { origin: chain.origin, port: connection.port });
}

const CLIENT_TEXT: Readonly<Record<Client, string>> = {
  "mutual-http": "mutual TLS and HTTP",
  "mutual-tcp": "mutual TLS and TCP",
  "plain-http": "plain HTTP",
  "plain-tcp": "plain TCP",
  tls: "the application's own TLS",
};

/** Returns the client's protocol as text. TLS of the client's proxy is not TLS of the application. */
function protocolText(client: Client, peer: Peer | undefined): string {
  return peer?.tls === "simple" ? "TLS without a client certificate" : CLIENT_TEXT[client];
}

function clientText(client: Client, { peer }: Connection): string {
  const text = protocolText(client, peer);
  return peer !== undefined || client === "tls" ? `the client uses ${text}` : `a client that uses ${text} is assumed`;
}

/**
 * Returns the kind of client. An unknown client is assumed to use TLS if the question says so, and otherwise mutual TLS
 * if the port accepts mutual TLS.
 */
function clientOf({ mutual, isHttp }: Mode, { spoken, isPlain, peer }: Connection): Client {
  if (peer !== undefined) return knownClient(peer, spoken);
  if (spoken === "tls") return "tls";
  const http = spoken === "http" || isHttp && spoken !== "tcp";
  return mutual && isPlain !== true ? http ? "mutual-http" : "mutual-tcp" : http ? "plain-http" : "plain-tcp";
}

/** Returns the kind of a known client. A proxy that adds no TLS forwards the application's own TLS. */
function knownClient({ tls, isHttp }: Peer, spoken: Connection["spoken"]): Client {
  if (tls === "mutual") return isHttp ? "mutual-http" : "mutual-tcp";
  return tls === "simple" || spoken === "tls" ? "tls" : isHttp ? "plain-http" : "plain-tcp";
}

function modeStep(
  mode: Mode,
  client: Client,
  { connection, facts }: { readonly connection: Connection; readonly facts: Facts },
  { transport, filters }: FilterChain,
): Step {
  const detail = modeDetail(mode);
  const needs = transport.kind === "tls" && transport.requiresClientCertificate;
  if (client === "tls" && needs) return certificateStep(mode, connection);
  if (!takes(mode, client)) return refusedBy(mode, client, connection, facts);
  if (client === "mutual-tcp" && connection.peer !== undefined && filters.some(({ kind }) => kind === "http")) {
    const message =
      `${mode.text}; the client's proxy sends TCP, but this chain reads HTTP: the two proxies read the port as different protocols`;
    return passing("tls", { result: "warning", message, detail });
  }
  return passing("tls", { message: mode.text, detail });
}

/**
 * Returns the step for TLS at a port that requires a client certificate. Only the application knows whether its own TLS
 * has a certificate. The client's proxy has none with mode SIMPLE: PERMISSIVE would not help it.
 */
function certificateStep(mode: Mode, { peer }: Connection): Step {
  const detail = modeDetail(mode);
  if (peer?.tls !== "simple") {
    const message = `${mode.text}: the client must present a certificate of the mesh`;
    return passing("tls", { result: "warning", message, detail });
  }
  const says = `the client's proxy uses ${protocolText("tls", peer)}`;
  const message = `${mode.text}, and ${says}: the server refuses the handshake: 503 UF`;
  const fix = "remove trafficPolicy.tls of the DestinationRule, so that Istio detects the TLS mode of the server";
  return refusing("tls", { message, detail }, fix, peer.rule);
}

/** Whether the client is known and the mTLS mode refuses it. Then the mode is the reason, not the filter chain. */
function isKnownMisfit(mode: Mode, client: Client, { peer }: Connection): boolean {
  return peer !== undefined && mode.name !== "closed" && !takes(mode, client);
}

function modeDetail({ name, mutual, plain, isHttp }: Mode) {
  return { mode: name, mutualTls: mutual, plainText: plain, isHttp };
}

function refusedBy(mode: Mode, client: Client, { peer, port }: Connection, { workload }: Facts): Step {
  const proxyFix = client.startsWith("plain") ? peer?.proxyFix : undefined;
  const why = proxyFix === undefined ? "" : ", because the client's pod has no proxy";
  const says = peer === undefined ? "" : `, and the client uses ${CLIENT_TEXT[client]}${why}`;
  const message = `${mode.text}${says}: the connection is closed`;
  const authentication = causeOf("PeerAuthentication", "spec.mtls.mode", { by: "mtls", workload, port });
  if (proxyFix !== undefined) {
    return refusing("tls", { message, detail: modeDetail(mode) }, proxyFix, { ...authentication, keepsFix: true });
  }
  const cause = peer?.rule === undefined ? authentication : { ...peer.rule, otherwise: authentication };
  return refusing("tls", { message, detail: modeDetail(mode) }, fixOf(client), cause);
}

/** Returns the fix. If the port refuses mutual TLS, the client's DestinationRule is wrong. */
function fixOf(client: Client): string {
  return client.startsWith("mutual")
    ? "set trafficPolicy.tls.mode of the DestinationRule to DISABLE, or mtls.mode of the PeerAuthentication to PERMISSIVE"
    : "configure the client to use mutual TLS, or set mtls.mode of the PeerAuthentication to PERMISSIVE";
}

/** Returns the request. Without a Host header, the authority is the pod's address. */
function requestAt(connection: Connection, { address, port }: Original, isMutual: boolean): Request {
  const authority = joinHostPort(address ?? "", port);
  return requestOf(connection, authority, { isTls: isMutual, hasClientCertificate: isMutual });
}

/** Adds the port station of every endpoint. `origin` is the Sidecar that sets the endpoint; empty without a Sidecar. */
function addPorts(path: ConnectionPath, facts: Facts, { origin, port }: { origin: string; port: number }): void {
  const cause = origin === ""
    ? undefined
    : causeIn(origin, "Sidecar", "spec.ingress.defaultEndpoint", { by: "ingress", port });
  for (const { address } of path.endpointList()) {
    const { station, end } = portStep(facts, address);
    path.add({ station, end: end === undefined ? undefined : { ...end, cause } });
  }
}
