import { deepStrictEqual, throws } from "node:assert/strict";
import { withoutProgram } from "./macho.ts";

const ARM64 = 0x0100000c;
const X86_64 = 0x01000007;

/** A load command: its kind, and what follows kind and size as 32-bit numbers. */
type Command = readonly [kind: number, ...words: number[]];

function segment(name: string, [vmaddr, vmsize, fileoff, filesize]: [number, number, number, number]): Command {
  const bytes = new Uint8Array(16);
  new TextEncoder().encodeInto(name, bytes);
  const numbers = [vmaddr, vmsize, fileoff, filesize].flatMap((each) => [each, 0]);
  return [0x19, ...new Uint32Array(bytes.buffer), ...numbers, 1, 1, 0, 0];
}

/** A file: header, commands, zeros up to byte 1024, and what comes then. */
function file(processor: number, commands: readonly Command[], rest: Uint8Array): Uint8Array {
  const body = commands.flatMap(([kind, ...words]) => [kind, 8 + words.length * 4, ...words]);
  const head = Uint32Array.of(0xfeedfacf, processor, 0, 2, commands.length, body.length * 4, 0, 0, ...body);
  const bytes = new Uint8Array(1024 + rest.length);
  bytes.set(new Uint8Array(head.buffer));
  bytes.set(rest, 1024);
  return bytes;
}

const LINKEDIT = Uint8Array.from({ length: 64 }, (_, n) => n);

Deno.test("withoutProgram() takes the segment of an arm64 program away and moves what lies behind it", () => {
  const symbols = (offset: number): Command => [0x02, offset + 8, 2, offset + 32, 16];
  const signature = (offset: number): Command => [0x1d, offset + 48, 16];
  const original = file(ARM64, [
    segment("__TEXT", [0, 1024, 0, 1024]),
    segment("__LINKEDIT", [4096, 64, 1024, 64]),
    symbols(1024),
    signature(1024),
  ], LINKEDIT);
  const compiled = file(ARM64, [
    segment("__TEXT", [0, 1024, 0, 1024]),
    segment("__SUI", [4096, 512, 1024, 256]),
    segment("__LINKEDIT", [4608, 64, 1280, 64]),
    symbols(1280),
    signature(1280),
  ], Uint8Array.of(...new Uint8Array(256).fill(7), ...LINKEDIT));
  deepStrictEqual(withoutProgram(compiled), original);
});

Deno.test("withoutProgram() cuts an x86_64 program at its mark and takes the signature away", () => {
  const symbols: Command = [0x02, 1024, 2, 1056, 32];
  const mark = Uint8Array.of(...new TextEncoder().encode("<~sui-data~>"), 0xef, 0xbe, 0xad, 0xde);
  const program = Uint8Array.of(...LINKEDIT, ...mark, 3, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3);
  const compiled = file(X86_64, [segment("__LINKEDIT", [4096, 64, 1024, 64]), symbols, [0x1d, 2000, 16]], program);
  const original = file(X86_64, [segment("__LINKEDIT", [4096, 64, 1024, 64]), symbols], LINKEDIT);
  deepStrictEqual(withoutProgram(compiled), original);
});

Deno.test("withoutProgram() refuses what is no such program", () => {
  const bare = segment("__LINKEDIT", [4096, 64, 1024, 64]);
  throws(() => withoutProgram(new Uint8Array(100)), /Not a 64-bit Mach-O file/);
  throws(() => withoutProgram(file(ARM64, [bare], LINKEDIT)), /holds no program/);
  throws(() => withoutProgram(file(X86_64, [[0x02, 1024, 2, 1056, 32]], LINKEDIT)), /holds no program/);
  throws(() => withoutProgram(file(ARM64, [bare], LINKEDIT).subarray(0, 60)), /cut off/);
});
