/** Reads a certificate that another program maintains in files. */
import { oneAtATime } from "../../base/one_at_a_time.ts";
import { errorText, MeshError } from "../../base/errors.ts";
import { logText } from "../../platform/log.ts";
import type { Files, World } from "../../platform/world.ts";
import { type CertificateInfo, certificateInfo, checkPair } from "../../golang/x509/mod.ts";
import { spiffeIdOf } from "./ca_response.ts";
import { aheadText, stamp } from "./failure.ts";
import type { CertificateStore, Maintenance } from "./store.ts";
import type { IdentityOptions, MountedPaths } from "./options.ts";

/** Polling interval in milliseconds. A change takes effect once two consecutive reads are equal. */
const POLL_INTERVAL = 1000;
const MAX_BYTES = 1024 * 1024;

/** Returns the first location that contains both a certificate and a key. */
export async function findMounted(files: Files, places: readonly MountedPaths[]): Promise<MountedPaths | undefined> {
  for (const place of places) {
    const there = await Promise.all([isThere(files, place.certificate), isThere(files, place.key)]);
    if (there.every((each) => each)) return place;
  }
  return undefined;
}

/** Whether a file exists. A file that this user cannot access counts as absent. */
async function isThere(files: Files, path: string): Promise<boolean> {
  try {
    return await files.stat(path) !== undefined;
  } catch (error) {
    if (error instanceof MeshError) return false;
    throw error;
  }
}

/** Reads the files, and again on each change. Invalid files leave the current certificate in force. */
export async function maintainFromFiles(
  world: World,
  { mounted, log, metrics }: Pick<IdentityOptions, "mounted" | "log" | "metrics">,
  store: CertificateStore,
): Promise<Maintenance> {
  const { files, clock } = world;
  let leaf: CertificateInfo | undefined;
  let problem: string | undefined;
  const update = oneAtATime(async () => {
    const before = problem;
    problem = await read();
    if (problem !== undefined) metrics?.fileSecretFailed?.();
    if (problem !== undefined && problem !== before) log.warning(logText(problem));
  });
  const stop = files.watch(
    mounted.flatMap(({ certificate, key, roots }) => [certificate, key, roots]),
    POLL_INTERVAL,
    update,
  );
  await update();
  return {
    problem: () => problem ?? (leaf === undefined ? undefined : timeProblem(leaf, clock.now().getTime())),
    close: () => Promise.resolve(stop()),
  };

  /** Reads the files, and resolves with the problem, if any. Uses a certificate even without roots. */
  async function read(): Promise<string | undefined> {
    const place = await findMounted(files, mounted);
    if (place === undefined) return `files: No certificate: ${missingText(mounted)}`;
    const [workload, roots] = await Promise.allSettled([readPair(files, place), readRoots(files, place)]);
    const before = store.workload();
    const found = workload.status === "fulfilled" ? workload.value : undefined;
    store.put(found?.pair, roots.status === "fulfilled" ? roots.value : undefined);
    leaf = found?.info ?? leaf;
    if (found !== undefined && found.pair.certificate !== before?.certificate) logCertificate(place, found.info);
    const failed = [workload, roots].find((result) => result.status === "rejected");
    return failed === undefined ? undefined : `files: ${errorText(failed.reason)}`;
  }

  function logCertificate({ certificate }: MountedPaths, info: CertificateInfo): void {
    const [who, end] = [spiffeIdOf(info) ?? "no SPIFFE identity", stamp(info.notAfter.getTime())];
    log.info(logText(`The certificate of ${who} in "${certificate}" is in force, until ${end}`));
  }
}

function missingText(mounted: readonly MountedPaths[]): string {
  const pairs = mounted.map(({ certificate, key }) => `"${certificate}" with "${key}"`).join(", or ");
  return `waiting for ${pairs}`;
}

async function readPair(files: Files, { certificate: certificatePath, key: keyPath }: MountedPaths) {
  const [certificate, key] = await Promise.all([
    files.readText(certificatePath, MAX_BYTES),
    files.readText(keyPath, MAX_BYTES),
  ]);
  await checkPair({ certificate, key }, { certificate: certificatePath, key: keyPath });
  return { pair: { certificate, key }, info: certificateInfo(certificate, certificatePath) };
}

async function readRoots(files: Files, { roots: path }: MountedPaths): Promise<string> {
  const roots = await files.readText(path, MAX_BYTES);
  certificateInfo(roots, path);
  return roots;
}

function timeProblem({ notBefore, notAfter }: CertificateInfo, now: number): string | undefined {
  if (notAfter.getTime() > now) return aheadText(notBefore.getTime(), now);
  const end = stamp(notAfter.getTime());
  return `files: The certificate expired at ${end}: the program that maintains it has not renewed it`;
}
