/** The configuration of a proxy as tables and messages, like `istioctl proxy-config`. */
import type { Value } from "../../base/value.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import type { EnvoyConfig } from "../envoy/config.ts";

/** What can be listed. */
export const LISTED = ["listeners", "routes", "clusters", "endpoints", "secrets", "bootstrap"] as const;

export type Listed = typeof LISTED[number];

/** Which entries to list; each field that is set must match. */
export interface ListingFilter {
  /** The whole name of the resource; of endpoints, the name of their cluster. */
  readonly name: string | undefined;
  readonly port: number | undefined;
  /** A part of the name of the cluster. */
  readonly fqdn: string | undefined;
}

export interface Listing {
  /** The table; the first row has the headings. */
  readonly rows: readonly (readonly string[])[];
  /** Envoy's messages, with the field names of its admin interface. They may contain secrets. */
  readonly messages: Value;
}

/** What a listing is made from. */
export interface ListingSource {
  readonly config: EnvoyConfig;
  readonly snapshot: Snapshot;
  readonly filter: ListingFilter;
  /** For the validity of certificates. */
  readonly now: Date;
}

/** One listed resource: its JSON, its table rows, and the fields that filters compare. */
export interface Entry {
  readonly message: Value;
  readonly rows: readonly (readonly string[])[];
  readonly name: string;
  readonly port?: number;
}

/** The entries that match the filter, as a listing. */
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
