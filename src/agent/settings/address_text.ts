import type { Address } from "../../core/net.ts";

/** An address in its one canonical spelling, as `netip.Addr.String` writes it. Source: RFC 5952. */
export function addressText({ family, value, zone }: Address): string {
  if (family === 4) return bytes(value);
  const suffix = zone === "" ? "" : `%${zone}`;
  if (value >> 32n === 0xffffn) return `::ffff:${bytes(value & 0xffffffffn)}${suffix}`;
  return shorten(groups(value)) + suffix;
}

function bytes(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".");
}

function groups(value: bigint): string[] {
  return Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
}

/** The longest run of at least two zeros, the first of several, becomes `::`. */
function shorten(parts: readonly string[]): string {
  const text = parts.join(":");
  const runs = [...text.matchAll(/(?<![^:])0(?::0)+(?![^:])/g)];
  const longest = runs.reduce((best, [run]) => Math.max(best, run.length), 0);
  const run = runs.find(([each]) => each.length === longest);
  if (run === undefined) return text;
  const head = text.slice(0, run.index).replace(/:$/, "");
  const tail = text.slice(run.index + longest).replace(/^:/, "");
  return `${head}::${tail}`;
}
