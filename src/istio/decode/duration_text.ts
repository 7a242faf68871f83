import { readDuration } from "../../golang/duration.ts";

const SECOND = 1_000_000_000n;

/**
 * A duration as proto3 JSON writes it: seconds with none, three, six or nine decimal digits, then `s`.
 * Source: google/protobuf/duration.proto.
 */
export function durationText(nanoseconds: bigint): string {
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const digits = String(size % SECOND).padStart(9, "0").replace(/^0{9}$|0{6}$|0{3}$/, "");
  return `${nanoseconds < 0n ? "-" : ""}${size / SECOND}${digits === "" ? "" : `.${digits}`}s`;
}

/** The nanoseconds of such a text; 0 for any other text, which decoded data never has. */
export function nanosecondsOf(text: string): bigint {
  const nanoseconds = readDuration(text);
  return typeof nanoseconds === "bigint" ? nanoseconds : 0n;
}
