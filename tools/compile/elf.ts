/**
 * Returns the length of an ELF image: the end of its section headers, which linkers write last. `deno compile` appends
 * the program after it. Throws if the image is not 64-bit little-endian ELF.
 *
 * Source: System V ABI, ELF-64 header (e_shoff, e_shentsize, e_shnum).
 */
export function elfLength(bytes: Uint8Array): number {
  const header = new DataView(bytes.buffer, bytes.byteOffset, Math.min(64, bytes.byteLength));
  const isElf64 = bytes.byteLength >= 64 && header.getUint32(0) === 0x7f454c46 && bytes[4] === 2 && bytes[5] === 1;
  if (!isElf64) throw new Error("Not a 64-bit little-endian ELF file");
  const length = Number(header.getBigUint64(0x28, true)) + header.getUint16(0x3a, true) * header.getUint16(0x3c, true);
  if (length > bytes.byteLength) throw new Error("The ELF file is cut off");
  return length;
}
