import { errorText } from "../../base/errors.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { Clock, TlsServer } from "../../platform/mod.ts";
import { certificateInfo } from "../../golang/x509/mod.ts";
import type { CertificateSource } from "../sources/source.ts";

/** The state of the certificate that the server presents. */
export interface ServedCertificate {
  readonly notAfter: () => Date;
  /** Returns why the certificate is invalid or a newer one is not served; `undefined` if everything is fine. */
  readonly problem: () => string | undefined;
}

/** Replaces the server's certificate whenever the source has a new one. */
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
      log.info(`Serving the new certificate on new connections, valid until ${validity.notAfter.toISOString()}`);
    } catch (error) {
      refused = errorText(error);
      log.error(logText(`Cannot serve the new certificate, keeping the previous one: ${refused}`));
    }
  };
  source.onChange(() => void (last = last.then(renew)));
  return {
    notAfter: () => validity.notAfter,
    problem: () => refused ?? source.problem() ?? validityProblem(validity, clock.now()),
  };
}

interface Validity {
  readonly notBefore: Date;
  readonly notAfter: Date;
}

function validityOf(source: CertificateSource): Validity {
  return certificateInfo(source.current().certificate, "certificate");
}

function validityProblem({ notBefore, notAfter }: Validity, now: Date): string | undefined {
  if (now > notAfter) return `the certificate expired at ${notAfter.toISOString()}`;
  return now < notBefore ? `the certificate is not valid before ${notBefore.toISOString()}` : undefined;
}
