/** The configuration of a proxy as tables and messages, as `istioctl proxy-config` prints them. */
import type { Value } from "../../base/value.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import type { PathMatch } from "../envoy/route_config.ts";

/** Resource types that `--of` can list. */
export type Listed = "listeners" | "routes" | "clusters" | "endpoints" | "secrets" | "bootstrap";

/** Selects the entries to list. Every field that is set must match. */
export interface ListingFilter {
  /** Full name of the resource; for endpoints, the name of their cluster. */
  readonly name: string | undefined;
  readonly port: number | undefined;
  /** Part of the cluster name. */
  readonly fqdn: string | undefined;
}

export interface Listing {
  /** The table. The first row contains the headings. */
  readonly rows: readonly (readonly string[])[];
  /** Envoy's messages, with the field names of its admin interface. They may contain secrets. */
  readonly messages: Value;
}

export interface ListingSource {
  readonly config: EnvoyConfig;
  readonly snapshot: Snapshot;
  readonly filter: ListingFilter;
  /** Current time, to check the validity of certificates. */
  readonly now: Date;
}

/** One listed resource: its JSON, its table rows, and the fields that filters compare. */
export interface Entry {
  readonly message: Value;
  readonly rows: readonly (readonly string[])[];
  readonly name: string;
  readonly port?: number;
}

export function listingOf(
  heads: readonly string[],
  entries: readonly Entry[],
  { name, port, fqdn }: ListingFilter,
): Listing {
  const chosen = entries.filter((each) =>
    (name === undefined || each.name === name) && (port === undefined || each.port === port) &&
    (fqdn === undefined || each.name.includes(fqdn))
  );
  return { rows: [heads, ...chosen.flatMap(({ rows }) => rows)], messages: chosen.map(({ message }) => message) };
}

/** Returns a condition on the path as text: `/api*`, `PathPrefix:/api`, `/exact`, `regex ...`. */
export function pathText(path: PathMatch): string {
  switch (path.kind) {
    case "prefix":
      return `${path.text}*`;
    case "separated-prefix":
      return `PathPrefix:${path.text}`;
    case "exact":
      return path.text;
    case "regex":
      return `regex ${path.text}`;
    default:
      return "";
  }
}

/** Returns `NAME.NAMESPACE`, such as `reviews.shop` for `VirtualService shop/reviews`; empty for an empty text. */
export function managedBy(origin: string): string {
  const [, namespace, name] = /^\S+ ([^/]+)\/(.+)$/.exec(origin) ?? [];
  return name === undefined ? "" : `${name}.${namespace}`;
}
