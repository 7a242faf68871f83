/** The TLS station: mutual TLS to the endpoints and the expected identity, or plain text and the reason. */
import type { ValueMap } from "../../base/value.ts";
import { sameValue } from "../../base/values/mod.ts";
import type { Cluster } from "../envoy/cluster.ts";
import type { TransportSocket } from "../envoy/tls.ts";
import { stringMatchText } from "../rules/string_match.ts";
import type { Taken } from "./endpoints.ts";
import type { Facts } from "./facts.ts";
import { clauses, detailOf, passing, refusing, type Step, unsure } from "./connection_path.ts";

/** Returns the TLS step for the endpoints that load balancing can choose. */
export function tlsStep(facts: Facts, cluster: Cluster, taken: readonly Taken[]): Step {
  const choices = choicesOf(cluster, taken.map(({ metadata }) => metadata));
  if (choices === undefined) {
    const message = "mutual TLS depends on the tlsMode of the endpoint, which the snapshot does not contain";
    return unsure("tls", { message });
  }
  const kinds = new Map(choices.map((choice) => [`${choice.transport.kind} ${choice.match}`, choice]));
  const [first, ...more] = [...kinds.values()];
  if (first === undefined || more.length > 0) {
    const problems = [...kinds.values()].map(({ transport }) =>
      transport.kind === "tls" ? certificateProblem(facts, transport) : undefined
    );
    return problems.find((each) => each !== undefined) ?? mixed([...kinds.values()], addressesByMode(taken, choices));
  }
  if (first.transport.kind === "other") {
    return unsure("tls", { message: `the transport socket ${first.transport.type} is not supported` });
  }
  if (first.transport.kind === "plain") return plainStep(cluster, first);
  return certificateProblem(facts, first.transport) ?? encrypted(cluster, first, first.transport);
}

/** The transport socket that Envoy uses for an endpoint, and the name of the match; empty for the cluster's own. */
interface TransportChoice {
  readonly transport: TransportSocket;
  readonly match: string;
}

/** Returns the transport sockets of the endpoints; `undefined` if they depend on unknown metadata. */
function choicesOf(cluster: Cluster, metadata: readonly (ValueMap | undefined)[]): TransportChoice[] | undefined {
  const counts = cluster.transportMatches.some(({ match }) => Object.keys(match).length > 0);
  if (!counts || metadata.length === 0) return [transportFor(cluster, {})];
  const known = metadata.filter((each) => each !== undefined);
  return known.length < metadata.length ? undefined : known.map((each) => transportFor(cluster, each));
}

/** Returns the first match whose values are in the metadata, or else the cluster's own socket (TransportSocketMatcherImpl). */
function transportFor({ transport, transportMatches }: Cluster, metadata: ValueMap): TransportChoice {
  const found = transportMatches.find(({ match }) =>
    Object.entries(match).every(([key, value]) => sameValue(metadata[key] ?? null, value))
  );
  return found === undefined ? { transport, match: "" } : { transport: found.transport, match: found.name };
}

type Addresses = Readonly<Record<"mutual" | "simple" | "plain", readonly string[]>>;

/** Groups the endpoints by the client's TLS mode. Leaves out endpoints whose transport socket is an extension. */
function addressesByMode(taken: readonly Taken[], choices: readonly TransportChoice[]): Addresses {
  const of = (mode: string) =>
    taken.flatMap(({ address }, at) => {
      const transport = choices[at]?.transport;
      return transport !== undefined && modeOf(transport) === mode ? [address] : [];
    });
  return { mutual: of("mutual"), simple: of("simple"), plain: of("plain") };
}

function modeOf(transport: TransportSocket): string {
  if (transport.kind !== "tls") return transport.kind;
  return transport.certificates.length > 0 ? "mutual" : "simple";
}

function mixed(choices: readonly TransportChoice[], addresses: Addresses): Step {
  const parts = choices.map(({ transport, match }) => `${KIND_TEXT[transport.kind]} (${match || "the cluster's own"})`);
  const [tls] = choices.flatMap(({ transport }) => transport.kind === "tls" ? [transport] : []);
  return passing("tls", {
    name: tls?.sni ?? "",
    result: "warning",
    message: `the endpoints use different TLS: ${parts.join(", ")}`,
    detail: detailOf({ kinds: parts, names: (tls?.names ?? []).map(stringMatchText), ...addresses }),
  });
}

const KIND_TEXT: Readonly<Record<TransportSocket["kind"], string>> = {
  plain: "plain text",
  tls: "TLS",
  other: "an extension",
};

function plainStep({ name, origin, transportMatches }: Cluster, { match }: TransportChoice): Step {
  const why = match !== ""
    ? `plain text by ${match}: the endpoint has no tlsMode, so it has no sidecar`
    : transportMatches.length > 0
    ? "plain text: no transport socket matches the endpoint"
    : origin === "" || !name.includes("|")
    ? "plain text: the cluster has no TLS"
    : `plain text: ${origin} does not set mutual TLS, or the service is outside of the mesh`;
  return passing("tls", { message: why, detail: detailOf({ mode: "plain", match }) });
}

type Tls = Extract<TransportSocket, { kind: "tls" }>;

function encrypted({ origin }: Cluster, { match }: TransportChoice, tls: Tls): Step {
  const names = tls.names.map(stringMatchText);
  const mode = modeOf(tls);
  const what = mode === "mutual" ? `mutual TLS with the certificate "${tls.certificates[0]}"` : "TLS";
  const message = clauses(
    `${what} ${reasonOf(match, origin)}`,
    names.length === 0 ? "" : `the server's name ${names.slice(0, 3).join(" or ")}`,
    tls.roots === "" ? "the server's certificate is not verified" : "",
  );
  const certificate = match === "" ? foreignCertificate(tls) : "";
  const detail = detailOf({ mode, match, certificate, sni: tls.sni, alpn: tls.alpn, names, roots: tls.roots });
  return passing("tls", { name: tls.sni, result: tls.roots === "" ? "warning" : "ok", message, detail });
}

/** Returns the user's own certificate (mode MUTUAL); empty for the workload's. With the latter, Istio sets its own ALPN. */
function foreignCertificate({ certificates: [first = ""], alpn }: Tls): string {
  return first === "default" || alpn.includes("istio") ? "" : first;
}

function reasonOf(match: string, origin: string): string {
  if (match !== "") return `by ${match}: the endpoint has a sidecar`;
  return origin === "" ? "by the cluster" : `by ${origin}`;
}

/** Returns the step for an invalid workload certificate (the secret `default`), which makes every handshake fail. */
function certificateProblem({ certificate }: Facts, tls: Tls): Step | undefined {
  if (!tls.certificates.includes("default")) return undefined;
  const { result, message: why } = certificate;
  if (result === "unknown") {
    const message = `mutual TLS, but it is unknown whether the workload certificate is valid: ${why}`;
    return unsure("tls", { message });
  }
  if (result !== "error") return undefined;
  const fix = "check the agent's log: it cannot get or renew the certificate; then restart the proxy";
  return refusing("tls", { message: `mutual TLS, but without a valid workload certificate: ${why}` }, fix);
}
