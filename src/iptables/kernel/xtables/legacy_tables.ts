/**
 * Reads the tables of iptables-legacy through socket options (linux/netfilter_ipv4/ip_tables.h and ip6_tables.h).
 * Reading a table that is not in use would create it.
 */
import type { SystemCalls, World } from "../../../platform/mod.ts";
import type { Family } from "../../plan/rule.ts";
import { bitCount } from "../netfilter/values.ts";

export interface LegacyTable {
  readonly name: string;
  readonly rules: number;
  /** Whether the table has owned chains, or rules like the ones that rejected IPv6 in Istio 1.0 to 1.4. */
  readonly mayHoldOwned: boolean;
}

const OPTION = { information: 64, entries: 65 } as const;
const INFORMATION = { size: 84, hooks: 32, entryCount: 76, entriesSize: 80 } as const;
const NAME_SIZE = 32;
const ENTRIES_HEADER = 40;
/** Offset of the fields `target_offset` and `next_offset` in an entry, by family. */
const OFFSETS: Readonly<Record<Family, number>> = { 4: 88, 6: 140 };
/** The bytes that match any source and the destination `::1`: both addresses, then both masks. */
const TO_IPV6_LOOPBACK = `${"\0".repeat(31)}\x01${"\0".repeat(16)}${"\xff".repeat(16)}`;

/** Returns the names of the tables in use, which the kernel lists in /proc. */
export async function legacyTableNames({ files }: Pick<World, "files">, family: Family): Promise<readonly string[]> {
  const text = await files.readText(`/proc/net/${family === 4 ? "ip" : "ip6"}_tables_names`).catch(() => "");
  return text.split("\n").filter((name) => name !== "");
}

/** Reads a table in use. Throws a `SystemError`. */
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
    mayHoldOwned: text.includes("ISTIO_") || family === 6 && text.includes("REJECT") && text.includes(TO_IPV6_LOOPBACK),
  };
}

/** Counts the ERROR entries. Each user-defined chain starts with an ERROR entry, and the table ends with one. */
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
