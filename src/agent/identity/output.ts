/** Writes the certificate to files for other programs (`OUTPUT_CERTS`). */
import { messageOf } from "../../base/errors.ts";
import type { Files, Replacement } from "../../platform/world.ts";
import type { KeyPair } from "../../golang/x509/mod.ts";

const MODE = 0o600;
const FOLDER_MODE = 0o700;
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Writes the files that differ. All new files are complete before the first rename, so a full disk or a read-only
 * folder leaves the old files intact. Errors from `files` pass through.
 */
export async function writeOutput(files: Files, folder: string, pair: KeyPair, roots: string): Promise<void> {
  await files.makeFolder(folder, FOLDER_MODE);
  const wanted = Object.entries({ "root-cert.pem": roots, "key.pem": pair.key, "cert-chain.pem": pair.certificate });
  const staged: Replacement[] = [];
  try {
    for (const [name, text] of wanted) {
      const path = `${folder}/${name}`;
      if (await holds(files, path, text)) continue;
      const replacement = files.replace(path, MODE);
      staged.push(replacement);
      replacement.write(text);
    }
    while (staged[0] !== undefined) {
      staged[0].commit();
      staged.shift();
    }
  } finally {
    for (const left of staged) left.abort();
  }
}

/** Whether a file already contains the text. An unreadable file is written again. */
async function holds(files: Files, path: string, text: string): Promise<boolean> {
  try {
    return await files.stat(path) !== undefined && await files.readText(path, MAX_BYTES) === text;
  } catch {
    // The file is too large, not text, or not readable: write it again.
    return false;
  }
}

/** Describes a failed write in one line. */
export function outputProblem(folder: string, error: unknown): string {
  return `files: The certificate is in force, but not written to "${folder}" (OUTPUT_CERTS): ${messageOf(error)}`;
}
