import { readDuration } from "../../golang/duration.ts";

const SECOND = 1_000_000_000n;

/**
 * A duration in proto3 JSON: seconds with zero, three, six or nine decimal digits, then `s`.
 * Source: google/protobuf/duration.proto.
 */
export function durationText(nanoseconds: bigint): string {
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const digits = String(size % SECOND).padStart(9, "0").replace(/^0{9}$|0{6}$|0{3}$/, "");
  return `${nanoseconds < 0n ? "-" : ""}${size / SECOND}${digits === "" ? "" : `.${digits}`}s`;
}

/** The nanoseconds of a text from `durationText`; 0 for other texts, which do not occur in decoded data. */
export function nanosecondsOf(text: string): bigint {
  const nanoseconds = readDuration(text);
  return typeof nanoseconds === "bigint" ? nanoseconds : 0n;
}
