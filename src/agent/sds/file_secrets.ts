/** Secrets from files that the mesh configuration names: gateway certificates, CA certificates of external services. */
import { errorLine, MeshError, messageOf } from "../../core/errors.ts";
import { type Logger, logText } from "../../core/log.ts";
import type { Files } from "../../core/world/world.ts";
import { certificateInfo, checkPair } from "../../core/x509/mod.ts";
import { parseSecretName, sameSecret, type Secret, type Secrets, type SecretSource } from "./secret.ts";

/** The system's root certificates have some 200 KB. */
const MAX_BYTES = 4 * 1024 * 1024;
/** Polling interval of requested files, in milliseconds. */
const WATCH_INTERVAL = 1000;

interface FileSecret {
  readonly paths: readonly string[];
  readonly read: () => Promise<Secret>;
}

/**
 * `file-cert:` and `file-root:`. Waits for absent or invalid files; the last valid content stays in force. Any client
 * of the socket may name any file: only certificates, and keys that match one, are served.
 */
export function fileSecrets(files: Files, log: Logger): Secrets {
  return {
    open(name, changed) {
      const secret = fileSecret(files, name);
      return secret && watchSecret({ files, log, name, changed }, secret);
    },
  };
}

function fileSecret(files: Files, name: string): FileSecret | undefined {
  const parsed = parseSecretName(name);
  if (parsed?.kind === "authorities") return { paths: parsed.paths, read: () => readAuthorities(files, parsed.paths) };
  if (parsed?.kind !== "pair") return undefined;
  return { paths: [parsed.certificate, parsed.key], read: () => readPair(files, parsed) };
}

interface Watching {
  readonly files: Files;
  readonly log: Logger;
  readonly name: string;
  readonly changed: () => void;
}

function watchSecret({ files, log, name, changed }: Watching, { paths, read }: FileSecret): SecretSource {
  let secret: Secret | undefined;
  let problem: string | undefined;
  let reading = Promise.resolve();
  let isOpen = true;
  const update = async () => {
    const found = await read().catch((error: unknown) => lineOf(error));
    if (!isOpen) return;
    problem = typeof found === "string" ? found : undefined;
    if (problem !== undefined) log.warning(logText(`The files of ${JSON.stringify(name)} are not usable: ${problem}`));
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

function lineOf(error: unknown): string {
  return error instanceof MeshError ? errorLine(error) : messageOf(error);
}

async function readPair(files: Files, paths: { readonly certificate: string; readonly key: string }): Promise<Secret> {
  const [certificate, key] = await Promise.all([readSmall(files, paths.certificate), readSmall(files, paths.key)]);
  await checkPair({ certificate, key }, paths);
  return { kind: "pair", certificate, key };
}

async function readAuthorities(files: Files, paths: readonly string[]): Promise<Secret> {
  for (const path of paths) {
    if (paths.length > 1 && await files.facts(path) === undefined) continue;
    const authorities = await readSmall(files, path);
    certificateInfo(authorities, path);
    return { kind: "authorities", authorities };
  }
  throw new MeshError("No root certificates found on this system", {
    hint: `looked for ${paths.join(", ")}`,
  });
}

/** A pipe or a device would never end. */
async function readSmall(files: Files, path: string): Promise<string> {
  const facts = await files.facts(path);
  if (facts?.kind === "other") throw new MeshError(`Cannot read "${path}": it is not a regular file`);
  return await files.readText(path, MAX_BYTES);
}
