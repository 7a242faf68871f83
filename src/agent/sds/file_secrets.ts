/**
 * Serves secrets from files that the mesh configuration names: gateway certificates, CA certificates of external
 * services.
 */
import { errorText, MeshError } from "../../base/errors.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { Files } from "../../platform/world.ts";
import type { FileMetrics } from "../metrics/control_plane_metrics.ts";
import { certificateInfo, checkPair } from "../../golang/x509/mod.ts";
import { type FileSecretName, sameSecret, type Secret, type SecretSource } from "./secret.ts";

/** Maximum size of a file, in bytes. The system's root certificates take about 200 KB. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Polling interval of the files, in milliseconds. */
const WATCH_INTERVAL = 1000;

interface FileSecretOptions {
  readonly files: Files;
  readonly log: Logger;
  readonly metrics?: FileMetrics | undefined;
  readonly name: string;
  readonly changed: () => void;
}

/**
 * Opens a secret named `file-cert:...` or `file-root:...`. Waits for absent or invalid files, and keeps the last valid
 * content. A client of the socket may name any file, so only certificates, and keys that match a certificate, are
 * served.
 */
export function fileSecret(
  { files, log, metrics, name, changed }: FileSecretOptions,
  parsed: FileSecretName,
): SecretSource {
  const paths = parsed.kind === "pair" ? [parsed.certificate, parsed.key] : parsed.paths;
  let secret: Secret | undefined;
  let problem: string | undefined;
  let reading = Promise.resolve();
  let isOpen = true;
  const update = async () => {
    const found = await read(files, parsed).catch(errorText);
    if (!isOpen) return;
    problem = typeof found === "string" ? found : undefined;
    if (problem !== undefined) {
      metrics?.fileSecretFailed();
      log.warning(logText(`Cannot use the files of the secret ${JSON.stringify(name)}: ${problem}`));
    }
    if (typeof found === "string" || sameSecret(secret, found)) return;
    secret = found;
    changed();
  };
  const start = () => reading = reading.then(update);
  // Watching starts before the first read, so that no change is missed.
  const stop = files.watch(paths, WATCH_INTERVAL, start);
  start();
  return {
    current: () => secret,
    problem: () => problem,
    close() {
      isOpen = false;
      stop();
    },
  };
}

function read(files: Files, name: FileSecretName): Promise<Secret> {
  return name.kind === "pair" ? readPair(files, name) : readAuthorities(files, name.paths);
}

async function readPair(files: Files, paths: { readonly certificate: string; readonly key: string }): Promise<Secret> {
  const [certificate, key] = await Promise.all([readSmall(files, paths.certificate), readSmall(files, paths.key)]);
  await checkPair({ certificate, key }, paths);
  return { kind: "pair", certificate, key };
}

async function readAuthorities(files: Files, paths: readonly string[]): Promise<Secret> {
  for (const path of paths) {
    if (paths.length > 1 && await files.stat(path) === undefined) continue;
    const authorities = await readSmall(files, path);
    certificateInfo(authorities, path);
    return { kind: "authorities", authorities };
  }
  throw new MeshError("No root certificates found on this system", { hint: `looked for ${paths.join(", ")}` });
}

/** Reads a regular file. Reading a pipe or a device would never end. */
async function readSmall(files: Files, path: string): Promise<string> {
  const status = await files.stat(path);
  if (status?.kind === "other") throw new MeshError(`Cannot read "${path}": it is not a regular file`);
  return await files.readText(path, MAX_BYTES);
}
