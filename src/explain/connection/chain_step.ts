/** The filter chain station: the protocol that the listener filters detect, and the chain that matches. */
import type { FilterChain, Listener, ListenerFilter, PortPredicate } from "../envoy/listener.ts";
import type { Spoken } from "../question/question.ts";
import { type ChainChoice, filterChainFor, type Properties } from "../rules/filter_chain_search.ts";
import { lower } from "../rules/string_match.ts";
import { passing, refusing, type Step, unknowing } from "./connection_path.ts";

export interface Incoming {
  readonly spoken: Exclude<Spoken, "unsaid">;
  readonly destination: string | undefined;
  readonly port: number;
  readonly source: string | undefined;
  readonly isLocal: boolean;
  readonly sni: string;
  /** Protocols that a TLS client offers. */
  readonly alpn: readonly string[];
}

/** The step and the chosen chain. If no chain matches, the connection ends. */
export interface Chained {
  readonly step: Step;
  readonly chain: FilterChain | undefined;
}

/** Fixes for an undeclared port, by the direction of the connection. */
const DECLARE = {
  outbound: "declare the port in the Service, or in a ServiceEntry for a host outside of the mesh",
  inbound: "declare the port in a Service that selects the pod, or in spec.ingress of its Sidecar resource",
} as const;

/** Returns the step of a listener's filter chains for a connection. `note` is appended to the message. */
export function chainStep(
  listener: Listener,
  incoming: Incoming,
  { note, direction }: { readonly note: string; readonly direction: keyof typeof DECLARE },
): Chained {
  if (listener.hasMatcherTree) {
    const step = unknowing("filter-chain", {
      message: `${listener.name} chooses its filter chain with a matcher tree, which is not supported`,
    });
    return { step, chain: undefined };
  }
  const { chain, isDefault, why, unmet } = chooseChain(listener, incoming);
  if (chain === undefined) {
    const isUndeclared = unmet === "destination port" || unmet === "destination address";
    const fix = isUndeclared
      ? DECLARE[direction]
      : "use the protocol of the port, or change the name or appProtocol of the Service's port";
    const message = `${why}, and ${listener.name} has no default chain: it closes the connection`;
    return { step: refusing("filter-chain", { message }, fix), chain };
  }
  const { transportProtocol, applicationProtocols, serverName } = propertiesOf(listener, incoming);
  const message = `${isDefault ? `${why}: the default chain` : why}${note}`;
  const seen = [
    transportProtocol,
    ...applicationProtocols,
    serverName === "" ? "" : `server name ${serverName}`,
  ].filter((part) => part !== "");
  return { step: passing("filter-chain", { name: chain.name, message, detail: { seen, isDefault } }), chain };
}

/** Returns the chain that matches a connection. */
export function chooseChain(listener: Listener, incoming: Incoming): ChainChoice {
  return filterChainFor(listener, propertiesOf(listener, incoming));
}

/**
 * Returns the connection's properties. A property that no listener filter of this listener detects keeps its default
 * value.
 */
function propertiesOf({ listenerFilters }: Listener, incoming: Incoming): Properties {
  const runs = (kind: ListenerFilter["kind"]) =>
    listenerFilters.some((filter) => filter.kind === kind && !holdsFor(filter.disabled, incoming.port));
  const isTls = incoming.spoken === "tls" && runs("tls-inspector");
  const isHttp = incoming.spoken === "http" && runs("http-inspector");
  const { destination, port, source, isLocal } = incoming;
  return {
    destination,
    port,
    source,
    isLocal,
    serverName: isTls ? lower(incoming.sni) : "",
    transportProtocol: isTls ? "tls" : "raw_buffer",
    applicationProtocols: isTls ? incoming.alpn : isHttp ? ["http/1.1"] : [],
  };
}

function holdsFor(predicate: PortPredicate, port: number): boolean {
  switch (predicate.kind) {
    case "always":
      return true;
    case "never":
      return false;
    case "range":
      return predicate.start <= port && port < predicate.end;
    case "any":
      return predicate.of.some((each) => holdsFor(each, port));
    case "all":
      return predicate.of.every((each) => holdsFor(each, port));
    case "not":
      return !holdsFor(predicate.of, port);
  }
}
