/** The tables of a stream, and what an answer of the control plane makes of them. */
import type { TableResponse } from "./messages.ts";
import { decodeNameTable, type NameTable } from "./name_table.ts";

/** Tables by the names of their resources: bytes, which take less than what is in them. */
export type TableState = ReadonlyMap<string, Uint8Array>;

/**
 * The state after an answer. One without tables changes nothing, but to begin with it says that there are no names. Throws for
 * a table that cannot be read; the state is the old one then.
 */
export function nextState(state: TableState | undefined, response: TableResponse, isDelta: boolean): TableState {
  const { resources, removed } = response;
  for (const { bytes } of resources) decodeNameTable(bytes);
  if (!isDelta) {
    return resources.length === 0 && state !== undefined
      ? state
      : new Map(resources.map(({ bytes }, at) => [`${at}`, bytes]));
  }
  const next = new Map(state);
  for (const name of removed) next.delete(name);
  for (const { name, bytes } of resources) next.set(name, bytes);
  return next;
}

/** All tables as one. */
export function tableOf(state: TableState): NameTable {
  const tables = [...state.values()].map(decodeNameTable);
  const [only] = tables;
  return tables.length === 1 && only !== undefined ? only : new Map(tables.flatMap((table) => [...table]));
}
