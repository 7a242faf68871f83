/**
 * Extracts the runtime from a Mach-O program that `deno compile` made: it reverts the changes that its library libsui
 * makes to the image to insert the program. Source: libsui 0.10 to 0.16, `Macho::write_section` and `build`; Apple's
 * loader.h.
 *
 * | processor | where the program is                                   | what is undone                              |
 * |-----------|--------------------------------------------------------|---------------------------------------------|
 * | arm64     | a segment `__SUI` in front of `__LINKEDIT`             | the segment; `__LINKEDIT` and its offsets   |
 * | x86_64    | behind a mark at the end of the string table           | the end of the file, and the code signature |
 *
 * The signature on arm64 stays, because `deno compile` replaces it.
 */

const MAGIC = 0xfeedfacf;
const CPU_ARM64 = 0x0100000c;
const HEADER_SIZE = 32;

const SEGMENT_64 = 0x19;
const CODE_SIGNATURE = 0x1d;

/** Positions, in load commands, of fields that are offsets into `__LINKEDIT`. */
const LINKEDIT_OFFSETS: Readonly<Record<number, readonly number[]>> = {
  0x02: [8, 16], // LC_SYMTAB
  0x0b: [32, 40, 48, 56, 64, 72], // LC_DYSYMTAB
  0x22: [8, 16, 24, 32, 40], // LC_DYLD_INFO
  0x80000022: [8, 16, 24, 32, 40], // LC_DYLD_INFO_ONLY
  0x26: [8], // LC_FUNCTION_STARTS
  0x29: [8], // LC_DATA_IN_CODE
  0x2b: [8], // LC_DYLIB_CODE_SIGN_DRS
  0x80000033: [8], // LC_DYLD_EXPORTS_TRIE
  0x80000034: [8], // LC_DYLD_CHAINED_FIXUPS
  [CODE_SIGNATURE]: [8],
};

interface Command {
  readonly kind: number;
  readonly bytes: Uint8Array;
  readonly view: DataView;
  /** The name of the segment; `""` for all other commands. */
  readonly segment: string;
}

/** Returns the image without the program. Throws unless it is a 64-bit Mach-O program that `deno compile` made. */
export function withoutProgram(bytes: Uint8Array): Uint8Array {
  const header = view(bytes.subarray(0, HEADER_SIZE));
  if (bytes.length < HEADER_SIZE || header.getUint32(0, true) !== MAGIC) throw new Error("Not a 64-bit Mach-O file");
  const commands = commandsOf(bytes, header.getUint32(16, true));
  return header.getUint32(4, true) === CPU_ARM64 ? withoutSegment(bytes, commands) : withoutEnd(bytes, commands);
}

function commandsOf(bytes: Uint8Array, count: number): Command[] {
  const commands: Command[] = [];
  for (let at = HEADER_SIZE; commands.length < count;) {
    if (at + 8 > bytes.length) throw new Error("The Mach-O file is cut off");
    const kind = view(bytes.subarray(at, at + 8)).getUint32(0, true);
    const size = view(bytes.subarray(at, at + 8)).getUint32(4, true);
    if (size < 8 || at + size > bytes.length) throw new Error("The Mach-O file is cut off");
    const own = bytes.slice(at, at + size);
    const segment = kind === SEGMENT_64 ? new TextDecoder().decode(own.subarray(8, 24)).replace(/\0.*$/, "") : "";
    commands.push({ kind, bytes: own, view: view(own), segment });
    at += size;
  }
  return commands;
}

function withoutSegment(bytes: Uint8Array, commands: readonly Command[]): Uint8Array {
  const added = commands.find(({ segment }) => segment === "__SUI");
  const linkedit = commands.find(({ segment }) => segment === "__LINKEDIT");
  if (added === undefined || linkedit === undefined) throw new Error("The Mach-O file holds no program");
  const start = Number(added.view.getBigUint64(40, true));
  const size = Number(added.view.getBigUint64(48, true));
  if (start + size > bytes.length) throw new Error("The Mach-O file is cut off");
  for (const { kind, view } of commands) {
    for (const at of LINKEDIT_OFFSETS[kind] ?? []) {
      const offset = view.getUint32(at, true);
      if (offset >= start + size) view.setUint32(at, offset - size, true);
    }
  }
  linkedit.view.setBigUint64(24, added.view.getBigUint64(24, true), true);
  linkedit.view.setBigUint64(40, BigInt(start), true);
  return assembled(bytes, commands.filter((each) => each !== added), [
    bytes.subarray(0, start),
    bytes.subarray(start + size),
  ]);
}

/** In two pieces, so that this source file does not contain the mark. */
const MARK = new TextEncoder().encode(["<~sui-", "data~>"].join(""));

function withoutEnd(bytes: Uint8Array, commands: readonly Command[]): Uint8Array {
  const symbols = commands.find(({ kind }) => kind === 0x02);
  const strings = symbols?.view.getUint32(16, true) ?? bytes.length;
  const end = indexOf(bytes, Uint8Array.of(...MARK, 0xef, 0xbe, 0xad, 0xde), strings);
  if (end < 0) throw new Error("The Mach-O file holds no program");
  return assembled(bytes, commands.filter(({ kind }) => kind !== CODE_SIGNATURE), [bytes.subarray(0, end)]);
}

function indexOf(bytes: Uint8Array, wanted: Uint8Array, from: number): number {
  const [first = 0] = wanted;
  for (let at = bytes.indexOf(first, from); at >= 0; at = bytes.indexOf(first, at + 1)) {
    if (wanted.every((each, n) => bytes[at + n] === each)) return at;
  }
  return -1;
}

/**
 * Joins the pieces of the file and writes the load commands after the header. The space of removed commands is filled
 * with zeros.
 */
function assembled(bytes: Uint8Array, commands: readonly Command[], pieces: readonly Uint8Array[]): Uint8Array {
  const image = new Uint8Array(pieces.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const piece of pieces) {
    image.set(piece, at);
    at += piece.length;
  }
  const header = view(image);
  image.fill(0, HEADER_SIZE, HEADER_SIZE + view(bytes).getUint32(20, true));
  at = HEADER_SIZE;
  for (const command of commands) {
    image.set(command.bytes, at);
    at += command.bytes.length;
  }
  header.setUint32(16, commands.length, true);
  header.setUint32(20, at - HEADER_SIZE, true);
  return image;
}

function view(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
