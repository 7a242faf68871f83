/**
 * What the tables of iptables-legacy hold (linux/netfilter_ipv4/ip_tables.h and its twin for IPv6): asked without a
 * program, and only tables that somebody has used, as asking for others would make them.
 */
import type { SystemCalls } from "../../../core/world/mod.ts";
import type { Family } from "../../plan/rule.ts";

/** A table that is in use. */
export interface LegacyTable {
  readonly name: string;
  /** Rules that somebody made. */
  readonly rules: number;
  /** Chains of ours are in it, or rules as Istio 1.0 to 1.4 refused IPv6 by. */
  readonly mayHoldOurs: boolean;
}

const OPTION = { information: 64, entries: 65 } as const;
const INFORMATION = { size: 84, hooks: 32, entryCount: 76, entriesSize: 80 } as const;
const NAME_SIZE = 32;
const ENTRIES_HEADER = 40;
/** Where an entry says how long its conditions are, and where the next one starts. */
const OFFSETS: Readonly<Record<Family, number>> = { 4: 88, 6: 140 };
/** Conditions from anywhere to `::1`: source, destination and their masks. */
const TO_IPV6_LOOPBACK = `${"\0".repeat(31)}\x01${"\0".repeat(16)}${"\xff".repeat(16)}`;

/** A table, if it is one of those that the kernel says are in use. Throws `SystemError`. */
export function legacyTable(system: SystemCalls, family: Family, name: string): LegacyTable {
  const asked = new Uint8Array(INFORMATION.size);
  asked.set(new TextEncoder().encode(name));
  const information = viewOf(system.internetOption(family, OPTION.information, asked));
  const size = information.getUint32(INFORMATION.entriesSize, true);
  const wanted = new Uint8Array(ENTRIES_HEADER + size);
  wanted.set(new TextEncoder().encode(name));
  viewOf(wanted).setUint32(NAME_SIZE, size, true);
  const entries = system.internetOption(family, OPTION.entries, wanted).subarray(ENTRIES_HEADER);
  const text = new TextDecoder("latin1").decode(entries);
  const ends = errorEntries(entries, family);
  const fixed = bitCount(information.getUint32(INFORMATION.hooks, true)) + 1 + 2 * (ends - 1);
  return {
    name,
    rules: information.getUint32(INFORMATION.entryCount, true) - fixed,
    mayHoldOurs: text.includes("ISTIO_") || family === 6 && text.includes("REJECT") && text.includes(TO_IPV6_LOOPBACK),
  };
}

/** A chain that somebody made starts with an entry of the target ERROR and ends with a verdict; the table ends with one. */
function errorEntries(entries: Uint8Array, family: Family): number {
  const view = viewOf(entries);
  const decoder = new TextDecoder("latin1");
  let count = 0;
  for (let at = 0; at + OFFSETS[family] + 4 <= entries.length;) {
    const target = at + view.getUint16(at + OFFSETS[family], true) + 2;
    if (decoder.decode(entries.subarray(target, target + 6)) === "ERROR\0") count++;
    const next = view.getUint16(at + OFFSETS[family] + 2, true);
    if (next === 0) break;
    at += next;
  }
  return count;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function bitCount(value: number): number {
  return value.toString(2).replaceAll("0", "").length;
}
