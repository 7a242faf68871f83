import { type Logger, logText } from "../../core/log.ts";
import type { Clock, TlsServer } from "../../core/world/mod.ts";
import { certificateInfo } from "../../core/x509/mod.ts";
import type { CertificateSource } from "../sources/source.ts";
import { problemOf } from "../sources/files.ts";

/** The certificate that the server has in fact. */
export interface ServedCertificate {
  readonly notAfter: () => Date;
  /** What is wrong with it, or why a newer one is not served; `undefined` if all is well. */
  readonly problem: () => string | undefined;
}

/** Gives the server each new certificate of the source, one after the other. */
export function serveNewest(
  server: TlsServer,
  source: CertificateSource,
  { log, clock }: { readonly log: Logger; readonly clock: Clock },
): ServedCertificate {
  let validity = validityOf(source);
  let refused: string | undefined;
  let last = Promise.resolve();
  let served = source.current();
  const renew = async () => {
    const pair = source.current();
    if (pair === served) return;
    try {
      await server.replaceCertificate(pair);
      served = pair;
      validity = validityOf(source);
      refused = undefined;
      log.info(`New connections get the new certificate, which is valid until ${validity.notAfter.toISOString()}`);
    } catch (error) {
      refused = problemOf(error);
      log.error(logText(`The new certificate cannot be served, the one before stays in force: ${refused}`));
    }
  };
  source.onChange(() => void (last = last.then(renew)));
  return {
    notAfter: () => validity.notAfter,
    problem: () => refused ?? source.problem() ?? untimely(validity, clock.now()),
  };
}

interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

function validityOf(source: CertificateSource): Validity {
  return certificateInfo(source.current().certificate, "certificate");
}

function untimely({ notBefore, notAfter }: Validity, now: Date): string | undefined {
  if (now > notAfter) return `the certificate expired at ${notAfter.toISOString()}`;
  return now < notBefore ? `the certificate is not valid before ${notBefore.toISOString()}` : undefined;
}
