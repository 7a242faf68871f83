/** Roots of a mesh, and what istiod signs with: the files of the Secret `cacerts`. */
import { createCertificate, encodePem, generateEcKey, readCertificate } from "../../../../src/golang/x509/mod.ts";

const DAY = 24n * 3600n;
const URI_LIFE = 1n * DAY;

/** A certificate and its key, PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** A self-signed authority with a name of its own. */
export class MeshAuthority {
  readonly #key = generateEcKey();
  readonly #der: Uint8Array;

  constructor() {
    const name = { ...NO_NAMES, commonName: `root ${crypto.randomUUID()}`, serial: 1n, isAuthority: true };
    this.#der = createCertificate({ ...name, ...validFor(10n * DAY) }, this.#key, {
      certificate: undefined,
      key: this.#key,
    });
  }

  /** Its own certificate, PEM. */
  get root(): string {
    return encodePem("CERTIFICATE", this.#der);
  }

  /** The files for istiod: it signs with this authority, and trusts these roots. */
  files(roots: readonly MeshAuthority[]): Record<string, string> {
    return {
      "ca-key.pem": this.#key.pem(),
      "ca-cert.pem": this.root,
      "cert-chain.pem": this.root,
      "root-cert.pem": roots.map(({ root }) => root).join(""),
    };
  }

  /** A certificate of a workload, with a serial number of its own. */
  issue(uri: string): KeyPair {
    const key = generateEcKey();
    const serial = BigInt(`0x${crypto.randomUUID().replaceAll("-", "").slice(0, 14)}`) + 1n;
    const request = { ...NO_NAMES, commonName: "", uris: [uri], serial, isAuthority: false, ...validFor(URI_LIFE) };
    const issuer = { certificate: readCertificate(this.#der), key: this.#key };
    return { certificate: encodePem("CERTIFICATE", createCertificate(request, key, issuer)), key: key.pem() };
  }
}

const NO_NAMES = { addresses: [], dnsNames: [] };

/** Valid from a day ago until this many seconds from now. */
function validFor(seconds: bigint) {
  const now = BigInt(Math.floor(Date.now() / 1000));
  return { notBefore: now - DAY, notAfter: now + seconds };
}
