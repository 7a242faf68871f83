/** Secrets from files that the mesh configuration names: gateway certificates, CA certificates of external services. */
import { errorText, MeshError } from "../../base/errors.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { Files } from "../../platform/world.ts";
import type { FileMetrics } from "../metrics/control_plane_metrics.ts";
import { certificateInfo, checkPair } from "../../golang/x509/mod.ts";
import { type FileSecretName, sameSecret, type Secret, type SecretSource } from "./secret.ts";

/** The system's root certificates have some 200 KB. */
const MAX_BYTES = 4 * 1024 * 1024;
/** In milliseconds. */
const WATCH_INTERVAL = 1000;

interface FileSecretOptions {
  readonly files: Files;
  readonly log: Logger;
  readonly metrics?: FileMetrics | undefined;
  readonly name: string;
  readonly changed: () => void;
}

/**
 * `file-cert:` and `file-root:`. Waits for absent or invalid files; the last valid content stays in force. A client of
 * the socket may name any file: only certificates, and keys that match one, are served.
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
      log.warning(logText(`The files of ${JSON.stringify(name)} are not usable: ${problem}`));
    }
    if (typeof found === "string" || sameSecret(secret, found)) return;
    secret = found;
    changed();
  };
  const start = () => reading = reading.then(update);
  // Watch before the first read: no change is missed.
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

/** A pipe or a device would never end. */
async function readSmall(files: Files, path: string): Promise<string> {
  const status = await files.stat(path);
  if (status?.kind === "other") throw new MeshError(`Cannot read "${path}": it is not a regular file`);
  return await files.readText(path, MAX_BYTES);
}
