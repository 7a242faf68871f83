/** Reads and writes PEM as Go's encoding/pem does. Texts are binary strings: one character per byte. */
import { trimmedEnd } from "../../../base/text/mod.ts";

/** A block: its type (`CERTIFICATE`) and contents. Headers are skipped. */
export interface PemBlock {
  readonly type: string;
  readonly bytes: Uint8Array;
}

/** Encodes a block, in lines of 64 characters. */
export function encodePem(type: string, bytes: Uint8Array): string {
  const lines = bytes.toBase64().match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${type}-----`, ...lines, `-----END ${type}-----`, ""].join("\n");
}

/** Decodes the first complete block; `undefined` if the text has none. */
export function decodePem(binary: string): PemBlock | undefined {
  return decodePems(binary)[0];
}

/** Decodes all complete blocks, in order. Skips a BEGIN line without an END line of the same type. */
export function decodePems(binary: string): PemBlock[] {
  const blocks: PemBlock[] = [];
  let begun: string | undefined;
  let body: string[] = [];
  for (const line of binary.split("\n").map((line) => trimmedEnd(line, " \t\r"))) {
    const [, mark, type] = /^-----(BEGIN|END) (.*)-----$/.exec(line) ?? [];
    if (mark === "BEGIN") [begun, body] = [type, []];
    else if (mark === undefined) body.push(line);
    else {
      const bytes = type === begun ? bytesOf(body) : undefined;
      if (begun !== undefined && bytes !== undefined) blocks.push({ type: begun, bytes });
      begun = undefined;
    }
  }
  return blocks;
}

/** The contents of a block; `undefined` if they are not base64. Lines with a colon at the start are headers. */
function bytesOf(body: readonly string[]): Uint8Array | undefined {
  const start = body.findIndex((line) => !line.includes(":"));
  const content = start < 0 ? "" : body.slice(start).join("").replace(/[ \t\r]/g, "");
  if (content.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(content)) return undefined;
  return Uint8Array.fromBase64(content);
}
