import { MeshError } from "../errors.ts";

const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Decodes UTF-8. Throws a MeshError with source and line of the first invalid byte. */
export function decodeUtf8(bytes: Uint8Array, source: string): string {
  try {
    return strict.decode(bytes);
  } catch {
    // A TypeError means that the bytes are not UTF-8.
    throw new MeshError("Cannot read the text: it is not valid UTF-8", {
      place: { file: source, line: lineOfFirstBadByte(bytes) },
      hint: "save the file as UTF-8",
    });
  }
}

/**
 * Returns the line of the first invalid byte. Lossy decoding keeps line breaks, and turns this byte into the first
 * replacement character.
 */
function lineOfFirstBadByte(bytes: Uint8Array): number {
  const [before = ""] = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes).split("\uFFFD", 1);
  return before.split("\n").length;
}
