import { createHash } from "node:crypto";
import type { Document } from "./release.ts";

/** Returns the SHA-256 of bytes, in lower-case hexadecimal digits. */
export function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** Returns lines for `sha256sum --check`, sorted by file name. */
export function checksums(files: readonly Document[]): string {
  return files.toSorted((a, b) => a.name < b.name ? -1 : 1)
    .map(({ name, content }) => `${sha256(content)}  ${name}\n`).join("");
}
