import type { Logger } from "../../core/log.ts";
import type { Files } from "../../core/world/world.ts";
import { checkPair, type PairNames } from "../../core/x509/mod.ts";
import type { CertificateSource, ServingCertificate } from "./source.ts";
import { keep } from "./files.ts";

/** A chain of certificates has some KB. */
const MAX_BYTES = 1024 * 1024;

/**
 * The certificate of two PEM files, read anew when they change. Rejects with a `MeshError` if they cannot be used from the
 * start; later ones that cannot leave the certificate before in force.
 */
export async function certificateFromFiles(files: Files, log: Logger, paths: PairNames): Promise<CertificateSource> {
  const make = async (): Promise<ServingCertificate> => {
    const [certificate, key] = await Promise.all([
      files.readText(paths.certificate, MAX_BYTES),
      files.readText(paths.key, MAX_BYTES),
    ]);
    await checkPair({ certificate, key }, paths);
    return { certificate, key };
  };
  const kept = await keep(files, log, { name: "certificate", paths: [paths.certificate, paths.key], make });
  return { ...kept, ready: Promise.resolve() };
}
