/**
 * On Linux, the pack is between the runtime and the part that `deno compile` appends. Deno reads and copies its own
 * part at every start: 3 MB of scripts there would add 3 ms to a start of 30 ms, and a command needs only a tenth of
 * them.
 *
 * ```
 * runtime (ELF) | pack | MESHPACK, 12 digits: length of the pack | what Deno appended, its length in the last 8 bytes
 * ```
 */
const MAGIC = "MESHPACK";
const LENGTH_DIGITS = 12;
const FOOTER = MAGIC.length + LENGTH_DIGITS;

/**
 * Inserts a pack into a program made by `deno compile`. Throws if the program does not end as `deno compile` ends its
 * programs.
 */
export async function putBehindRuntime(program: string, pack: string): Promise<void> {
  const made = await Deno.readFile(program);
  const content = await Deno.readFile(pack);
  const length = lastNumber(made.subarray(-8));
  if (length <= 0 || length >= made.length) throw new Error("The compiled program does not end with Deno's own part");
  const runtime = made.subarray(0, made.length - length);
  const footer = new TextEncoder().encode(`${MAGIC}${String(content.length).padStart(LENGTH_DIGITS, "0")}`);
  const pieces = [runtime, content, footer, made.subarray(made.length - length)];
  await Deno.writeFile(program, new Blob(pieces).stream());
}

/** Opens a program and finds the offset of its pack. Throws if the program contains no pack. */
export function openBehindRuntime(program: string): { readonly file: Deno.FsFile; readonly start: number } {
  const file = Deno.openSync(program);
  const end = file.seekSync(0, Deno.SeekMode.End);
  const packEnd = end - lastNumber(read(file, end - 8, 8)) - FOOTER;
  const footer = new TextDecoder().decode(read(file, packEnd, FOOTER));
  if (!footer.startsWith(MAGIC)) {
    file.close();
    throw new Error(`"${program}" holds no scripts: it was changed after it was built`);
  }
  return { file, start: packEnd - Number(footer.slice(MAGIC.length)) };
}

function read(file: Deno.FsFile, start: number, length: number): Uint8Array {
  file.seekSync(start, Deno.SeekMode.Start);
  const bytes = new Uint8Array(length);
  file.readSync(bytes);
  return bytes;
}

function lastNumber(bytes: Uint8Array): number {
  return Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigUint64(0, true));
}
