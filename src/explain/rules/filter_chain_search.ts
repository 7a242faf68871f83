/**
 * Finds the filter chain for a connection (FilterChainManagerImpl::findFilterChain). Criteria apply in a fixed order.
 * Each criterion keeps only the chains with the most specific value, without backtracking.
 */
import { blockHolds, type Cidr } from "../../golang/net/mod.ts";
import { addressOf } from "../address.ts";
import type { FilterChain, FilterChainMatch, Listener } from "../envoy/listener.ts";

/** Properties of a connection, from listener filters and the socket. */
export interface Properties {
  /** Destination address; if `undefined`, only chains without destinations match. */
  readonly destination: string | undefined;
  readonly port: number;
  /** TLS server name in lower case; empty without TLS or without a server name. */
  readonly serverName: string;
  /** `tls` or `raw_buffer`. */
  readonly transportProtocol: string;
  readonly applicationProtocols: readonly string[];
  readonly source: string | undefined;
  /** Whether the client is in the same pod. */
  readonly isLocal: boolean;
}

/** The chosen chain (`undefined` if no chain matches) and the reason. */
export interface ChainChoice {
  readonly chain: FilterChain | undefined;
  readonly isDefault: boolean;
  /** The conditions of the chosen chain, or the criterion that no chain meets. */
  readonly why: string;
  /** Name of the criterion that no chain meets; `undefined` if a chain matches. */
  readonly unmet?: Criterion;
}

export function filterChainFor(
  { chains, defaultChain }: Pick<Listener, "chains" | "defaultChain">,
  connection: Properties,
): ChainChoice {
  let left = chains;
  for (const { name, pick } of CRITERIA) {
    const next = pick(left, connection);
    if (next.length === 0) {
      const why = `no chain matches its ${name}`;
      return { chain: defaultChain, isDefault: defaultChain !== undefined, why, unmet: name };
    }
    left = next;
  }
  const [chain] = left;
  return { chain, isDefault: false, why: chain === undefined ? "" : matchText(chain.match) };
}

type Picker = (chains: readonly FilterChain[], connection: Properties) => readonly FilterChain[];

/** Criteria in Envoy's order (listener_components.proto, FilterChainMatch). */
const CRITERIA = [
  {
    name: "destination port",
    pick: (chains, { port }) => withFirst(chains, [port, 0], (match, wanted) => match.port === wanted),
  },
  {
    name: "destination address",
    pick: (chains, { destination }) => longestBlock(chains, ({ destinations }) => destinations, destination),
  },
  {
    name: "server name",
    pick: (chains, { serverName }) =>
      withFirst(chains, serverNames(serverName), (match, wanted) => isIn(match.serverNames, wanted)),
  },
  {
    name: "transport protocol",
    pick: (chains, { transportProtocol }) =>
      withFirst(chains, [transportProtocol, ""], (match, wanted) => match.transportProtocol === wanted),
  },
  {
    name: "application protocol",
    pick: (chains, { applicationProtocols }) =>
      withFirst(chains, [...applicationProtocols, ""], (match, wanted) => isIn(match.applicationProtocols, wanted)),
  },
  {
    name: "direct source address",
    pick: (chains, { source }) => longestBlock(chains, ({ directSources }) => directSources, source),
  },
  {
    name: "source type",
    pick: (chains, { isLocal }) =>
      withFirst(chains, [isLocal ? "local" : "external", "any"], (match, wanted) => match.sourceType === wanted),
  },
  { name: "source address", pick: (chains, { source }) => longestBlock(chains, ({ sources }) => sources, source) },
  // The source port is never known in advance.
  { name: "source port", pick: (chains) => chains.filter(({ match }) => match.sourcePorts.length === 0) },
] as const satisfies readonly { readonly name: string; readonly pick: Picker }[];

export type Criterion = (typeof CRITERIA)[number]["name"];

/** Tries the wanted values in order. Keeps the chains with the first value that at least one chain has. */
function withFirst<T>(
  chains: readonly FilterChain[],
  wanted: readonly T[],
  has: (match: FilterChainMatch, value: T) => boolean,
): readonly FilterChain[] {
  for (const value of wanted) {
    const found = chains.filter(({ match }) => has(match, value));
    if (found.length > 0) return found;
  }
  return [];
}

/** Whether a condition has a name. The empty name stands for no condition. */
function isIn(names: readonly string[], wanted: string): boolean {
  return wanted === "" ? names.length === 0 : names.includes(wanted);
}

/** Keeps the chains with the longest matching block. A chain without blocks counts as a match of length 0. */
function longestBlock(
  chains: readonly FilterChain[],
  blocksOf: (match: FilterChainMatch) => readonly Cidr[],
  text: string | undefined,
): readonly FilterChain[] {
  const address = addressOf(text);
  const lengths = chains.map(({ match }) => {
    const blocks = blocksOf(match);
    if (blocks.length === 0) return 0;
    if (address === undefined) return -1;
    return Math.max(-1, ...blocks.filter((block) => blockHolds(block, address)).map(({ bits }) => bits));
  });
  const longest = Math.max(-1, ...lengths);
  return longest < 0 ? [] : chains.filter((_, index) => lengths[index] === longest);
}

/** Returns the name, then its wildcards from longest to shortest, then the empty name. */
function serverNames(name: string): string[] {
  const wildcards: string[] = [];
  for (let dot = name.indexOf(".", 1); dot > 0 && dot < name.length - 1; dot = name.indexOf(".", dot + 1)) {
    wildcards.push(`*${name.slice(dot)}`);
  }
  return name === "" ? [""] : [name, ...wildcards, ""];
}

export function matchText(match: FilterChainMatch): string {
  const parts = [
    match.port === 0 ? "" : `port ${match.port}`,
    blocksText("destination", match.destinations),
    match.serverNames.length === 0 ? "" : `server name ${match.serverNames.join(", ")}`,
    match.transportProtocol,
    match.applicationProtocols.length === 0 ? "" : `protocol ${match.applicationProtocols.join(", ")}`,
    blocksText("direct source", match.directSources),
    match.sourceType === "any" ? "" : `${match.sourceType} source`,
    blocksText("source", match.sources),
    match.sourcePorts.length === 0 ? "" : `source port ${match.sourcePorts.join(", ")}`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? "it has no conditions" : `it matches ${parts.join(", ")}`;
}

function blocksText(name: string, blocks: readonly Cidr[]): string {
  return blocks.length === 0 ? "" : `${name} in ${blocks.length} block${blocks.length === 1 ? "" : "s"}`;
}
