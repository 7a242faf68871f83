import { createHash } from "node:crypto";
import type { Document } from "./release.ts";

/** The SHA-256 of bytes, in lower-case digits. */
export function sha256(content: Uint8Array): string {
  return createHash("sha256").update(content).digest("hex");
}

/** The lines that `sha256sum --check` reads, sorted by name. */
export function checksums(files: readonly Document[]): string {
  return files.toSorted((a, b) => a.name < b.name ? -1 : 1)
    .map(({ name, content }) => `${sha256(content)}  ${name}\n`).join("");
}
