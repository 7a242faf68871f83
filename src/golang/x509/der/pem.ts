/** Reads and writes PEM as Go's encoding/pem does. Texts are binary strings: one character per byte. */
import { binaryOf, bytesOfBinary } from "../../../base/bytes.ts";

/** A block: its type (`CERTIFICATE`) and contents. Headers are skipped. */
export interface PemBlock {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Encodes a block, in lines of 64 characters. */
export function encodePem(type: string, bytes: Uint8Array): string {
  const lines = btoa(binaryOf(bytes)).match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${type}-----`, ...lines, `-----END ${type}-----`, ""].join("\n");
}

const BEGIN = "-----BEGIN ";
const END = "\n-----END ";

/** Decodes the first complete block; `undefined` if the text has none. */
export function decodePem(binary: string): PemBlock | undefined {
  return blockFrom(binary, 0)?.block;
}

/** Decodes all complete blocks, in order. */
export function decodePems(binary: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  for (let found = blockFrom(binary, 0); found !== undefined; found = blockFrom(binary, found.next)) {
    blocks.push(found.block);
  }
  return blocks;
}

function blockFrom(binary: string, start: number): { readonly block: PemBlock; readonly next: number } | undefined {
  let from = start;
  for (;;) {
    const end = binary.indexOf(END, from);
    if (end < 0) return undefined;
    const begin = beginBefore(binary, from, end);
    const block = begin === undefined ? undefined : blockAt(binary, begin, end);
    from = end + END.length;
    if (block !== undefined) return { block, next: from };
  }
}

/** Finds the last BEGIN line before an END line. Earlier BEGIN lines without an END line are skipped. */
function beginBefore(binary: string, from: number, end: number): number | undefined {
  const begin = binary.slice(from, end).lastIndexOf(BEGIN);
  if (begin < 0 || (begin > 0 && binary[from + begin - 1] !== "\n")) return undefined;
  return from + begin;
}

function blockAt(binary: string, begin: number, end: number): PemBlock | undefined {
  const first = lineAt(binary, begin + BEGIN.length);
  if (!first.text.endsWith("-----")) return undefined;
  const type = first.text.slice(0, -5);
  const last = lineAt(binary, end + END.length).text;
  const start = afterHeaders(binary, first.next);
  if (last !== `${type}-----` || start === undefined || start > end + 1) return undefined;
  const content = binary.slice(start, Math.max(start, end)).replace(/[ \t\r\n]/g, "");
  if (content.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(content)) return undefined;
  return { type, bytes: bytesOfBinary(atob(content)) };
}

/** The position after the headers, which are lines with a colon; `undefined` if the text ends there. */
function afterHeaders(binary: string, start: number): number | undefined {
  let at = start;
  while (at < binary.length) {
    const line = lineAt(binary, at);
    if (!line.text.includes(":")) return at;
    at = line.next;
  }
  return undefined;
}

function lineAt(binary: string, at: number): { readonly text: string; readonly next: number } {
  const found = binary.indexOf("\n", at);
  const end = found < 0 ? binary.length : found;
  let last = binary.charAt(end - 1) === "\r" && end > at ? end - 1 : end;
  while (last > at && " \t".includes(binary.charAt(last - 1))) last--;
  return { text: binary.slice(at, last), next: found < 0 ? end : found + 1 };
}
