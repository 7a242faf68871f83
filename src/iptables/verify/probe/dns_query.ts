/** What is sent to prove a flow: words that nobody can guess, and DNS queries for them (RFC 1035). */

/** 32 random hexadecimal digits. */
export function token(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

const HEADER = [0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0];
const TYPE_A_CLASS_IN = [0, 1, 0, 1];

/** A query for the address of `WORD.invalid`: a name that never exists (RFC 6761), should it leave the pod after all. */
export function queryBytes(word: string): Uint8Array {
  const labels = [word, "invalid"].flatMap((label) => [label.length, ...new TextEncoder().encode(label)]);
  return Uint8Array.from([...HEADER, ...labels, 0, ...TYPE_A_CLASS_IN]);
}
