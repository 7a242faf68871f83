/** An inbound connection: kernel, 15006, filter chain and mode, authorization, route, cluster, the application's port. */
import { joinHostPort } from "../../golang/net/mod.ts";
import type { FilterChain } from "../envoy/listener.ts";
import type { Connection } from "../question/question.ts";
import { type Request, requestOf } from "../rules/request.ts";
import { captureInbound } from "./capture_step.ts";
import { type Inside, throughChain } from "./chain_path.ts";
import { chainStep, type Incoming } from "./chain_step.ts";
import type { Facts } from "./facts.ts";
import { acceptedBy, type Original, withoutConfiguration } from "./listener_step.ts";
import { type Client, CLIENTS, type Mode, modeOf, takes } from "./mode.ts";
import { portStep } from "./port_step.ts";
import { type ConnectionPath, passing, refusing, stationOf, type Step } from "./connection_path.ts";

/** Adds the stations of an inbound connection. */
export function inbound(path: ConnectionPath, facts: Facts, connection: Connection): void {
  const { host: source, port } = connection;
  const own = facts.addresses.find((each) => each.includes(":") === source.includes(":")) ?? facts.addresses[0];
  const captured = captureInbound(facts, source, port);
  if (!path.add(captured.step) || captured.port === undefined) {
    if (captured.step.end?.verdict === "bypasses") path.note(portStep(facts, joinHostPort(own ?? "0.0.0.0", port)));
    return;
  }
  if (facts.config === undefined) {
    path.add(withoutConfiguration(facts));
    return;
  }
  const original: Original = { address: own, port };
  const accepted = acceptedBy(facts.config, captured.port, original);
  if (!path.add(accepted.step) || accepted.listener === undefined) return;
  throughListener(path, { facts, config: facts.config, listener: accepted.listener, original }, connection);
}

function throughListener(path: ConnectionPath, inside: Inside, connection: Connection): void {
  const { listener, original, facts } = inside;
  const base = {
    destination: original.address,
    port: original.port,
    source: connection.host,
    isLocal: facts.addresses.includes(connection.host) || /^127\.|^::1$/.test(connection.host),
    sni: connection.sni ?? "",
  };
  const mode = modeOf(listener, base);
  const client = clientOf(mode, connection);
  const incoming: Incoming = { ...base, ...CLIENTS[client] };
  const { step, chain } = chainStep(listener, incoming, `; ${CLIENT_TEXT[client]}`);
  if (!path.add(step) || chain === undefined) return;
  if (!path.add(modeStep(mode, client, chain))) return;
  const isMutual = client.startsWith("mutual");
  const request = requestAt(connection, original, isMutual);
  const identity = isMutual ? undefined : "none";
  throughChain(path, inside, { chain, incoming, request, identity, direction: "inbound" });
  addPorts(path, facts);
}

const CLIENT_TEXT: Readonly<Record<Client, string>> = {
  "mutual-http": "a client of the mesh with mutual TLS and HTTP is assumed",
  "mutual-tcp": "a client of the mesh with mutual TLS and TCP is assumed",
  "plain-http": "a client with plain HTTP is assumed",
  "plain-tcp": "a client with plain TCP is assumed",
  tls: "the client speaks TLS of its own",
};

/** The client: one with TLS of its own if a server name is given, else one of the mesh if the port takes mutual TLS. */
function clientOf({ mutual, isHttp }: Mode, { spoken, isPlain }: Connection): Client {
  if (spoken === "tls") return "tls";
  const http = spoken === "http" || isHttp && spoken !== "tcp";
  return mutual && isPlain !== true ? http ? "mutual-http" : "mutual-tcp" : http ? "plain-http" : "plain-tcp";
}

/** The station of the port's mTLS mode. */
function modeStep(mode: Mode, client: Client, { transport }: FilterChain): Step {
  const detail = { mode: mode.name, mutualTls: mode.mutual, plainText: mode.plain, isHttp: mode.isHttp };
  const needs = transport.kind === "tls" && transport.requiresClientCertificate;
  if (client === "tls" && needs) {
    const message = `${mode.text}: the client must show a certificate of the mesh`;
    return { station: stationOf("tls", { result: "warning", message, detail }) };
  }
  if (!takes(mode, client)) {
    const fix = "let the client speak mutual TLS, or set mtls.mode of the PeerAuthentication to PERMISSIVE";
    return refusing("tls", { message: `${mode.text}: the connection is closed`, detail }, fix);
  }
  return passing("tls", { message: mode.text, detail });
}

/** Without a Host header the client names the pod. */
function requestAt(connection: Connection, { address, port }: Original, isMutual: boolean): Request {
  const authority = joinHostPort(address ?? "", port);
  return requestOf(connection, authority, { isTls: isMutual, hasClientCertificate: isMutual });
}

/** The application's port of every endpoint. */
function addPorts(path: ConnectionPath, facts: Facts): void {
  for (const { address } of path.endpointList()) path.add(portStep(facts, address));
}
