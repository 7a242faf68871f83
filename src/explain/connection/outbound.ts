/** An outbound connection: application, name, kernel, listener, filter chain, route, cluster, endpoint, TLS. */
import { joinHostPort, parseAddress } from "../../golang/net/mod.ts";
import type { FilterChain } from "../envoy/listener.ts";
import type { Connection } from "../question/question.ts";
import { requestOf } from "../rules/request.ts";
import { ambientOutbound } from "./ambient_outbound.ts";
import { captureOutbound } from "./capture_step.ts";
import { throughChain } from "./chain_path.ts";
import { chainStep, chooseChain, type Incoming } from "./chain_step.ts";
import { destinationOf } from "./destination.ts";
import type { Facts } from "./facts.ts";
import { type Inside, throughPort } from "./listener_step.ts";
import { senderOf } from "./sender.ts";
import { type ConnectionPath, refusing } from "./connection_path.ts";

/** Adds the stations of an outbound connection. */
export function outbound(path: ConnectionPath, facts: Facts, connection: Connection): void {
  const sender = senderOf(facts.pod);
  path.add(sender.step);
  const { step, address } = destinationOf(facts, connection);
  if (step !== undefined && !path.add(step)) return;
  if (facts.pod?.isAmbient === true) {
    ambientOutbound(path, facts, { address, port: connection.port });
    return;
  }
  const captured = captureOutbound(facts, sender, address, connection.port);
  if (!path.add(captured.step) || captured.port === undefined) return;
  const inside = throughPort(path, facts, captured.port, { address, port: connection.port });
  if (inside !== undefined) throughListener(path, inside, connection);
}

function throughListener(path: ConnectionPath, inside: Inside, connection: Connection): void {
  const { listener } = inside;
  const { incoming, note } = incomingOf(inside, connection);
  const { step, chain } = chainStep(listener, incoming, { note, direction: "outbound" });
  if (!path.add(step) || chain === undefined) return;
  if (isWrongProtocol(chain, incoming)) {
    const message = "the application sends TLS, but this chain reads HTTP: Envoy returns 400";
    const fix = "name the port of the Service https or tls, or make the application send HTTP";
    path.add(refusing("filter-chain", { name: chain.name, message }, fix));
    return;
  }
  const request = requestOf(connection, authorityOf(connection), NO_TLS);
  throughChain(path, inside, { chain, incoming, request, identity: "none", direction: "outbound" });
}

function isWrongProtocol({ filters, transport }: FilterChain, { spoken }: Incoming): boolean {
  return spoken === "tls" && transport.kind === "plain" && filters.some(({ kind }) => kind === "http");
}

/** ALPN protocols that HTTPS clients offer. */
const ALPN = ["h2", "http/1.1"];

/** Returns the protocol of the application. By default, HTTP if the listener has an HTTP chain, else TLS, else TCP. */
function incomingOf({ facts, listener, original }: Inside, { spoken, sni, host }: Connection) {
  const base = {
    destination: original.address,
    port: original.port,
    source: facts.addresses[0],
    isLocal: false,
    sni: sni ?? "",
    alpn: ALPN,
  };
  const as = (each: Incoming["spoken"], note: string): { readonly incoming: Incoming; readonly note: string } => ({
    incoming: { ...base, spoken: each, sni: base.sni === "" && each === "tls" && isName(host) ? host : base.sni },
    note,
  });
  if (spoken !== "unsaid") return as(spoken, "");
  const http = chooseChain(listener, { ...base, spoken: "http" }).chain;
  if (http?.filters.some(({ kind }) => kind === "http") === true) return as("http", "; HTTP is assumed: GET /");
  const tls = as("tls", `; TLS with the server name ${host} is assumed`);
  const wantsTls = isName(host) && chooseChain(listener, tls.incoming).chain?.match.serverNames.length;
  return wantsTls ? tls : as("tcp", "");
}

function isName(host: string): boolean {
  return typeof parseAddress(host) === "string";
}

const NO_TLS = { isTls: false, hasClientCertificate: false };

/** Returns the default Host header. Clients omit port 80. */
function authorityOf({ host, port }: Connection): string {
  return port === 80 ? joinHostPort(host, "").replace(/:$/, "") : joinHostPort(host, port);
}
