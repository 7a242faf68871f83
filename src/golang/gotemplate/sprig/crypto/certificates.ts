/** sprig's functions that create certificates, with the error texts of sprig's crypto.go. */
import { bytesOfBinary } from "../../../../base/bytes.ts";
import { OrderedFields } from "../../../go_json.ts";
import { parseAddress } from "../../../net/mod.ts";
import {
  createCertificate,
  decodePem,
  encodePem,
  generateRsaKey,
  type Issuer,
  numberOf,
  type Parent,
  type PrivateKey,
  readCertificate,
  readPrivateKey,
  type Request,
  unsignedBytes,
  within,
} from "../../../x509/mod.ts";
import { stringOf } from "../../../go_bytes.ts";
import { type FuncMap, type GoValue, pure, varying } from "../../../go_value.ts";
import { INT, LIST, listOf, STRING, text } from "../args.ts";
import { toInt64 } from "../values/cast.ts";
import { decodeBase64 } from "../text/encoding.ts";
import { toBinary } from "../text/octets.ts";
import { sprint } from "../../fmt/print.ts";

const CERTIFICATE = "sprig.certificate";
const RSA_BITS = 2048;

/** A certificate and its key as templates see them. */
export class Certificate extends OrderedFields {
  constructor(readonly cert: string, readonly key: string) {
    super([["Cert", cert], ["Key", key]], CERTIFICATE);
  }
}

/** Returns the functions of this file by name. Certificates are valid from `now`. */
export function certificateFunctions(now: () => Date): FuncMap {
  const names = [STRING, LIST, LIST, INT];
  return {
    buildCustomCert: pure([STRING, STRING], (cert, key) => customCertificate(text(cert), text(key))),
    genCA: varying([STRING, INT], (...asked) => authority(asked, freshKey(), now)),
    genCAWithKey: varying([STRING, INT, STRING], (...asked) => authority(asked, givenKey(asked[2]), now)),
    genSelfSignedCert: varying(names, (...asked) => selfSigned(asked, freshKey(), now)),
    genSelfSignedCertWithKey: varying([...names, STRING], (...asked) => selfSigned(asked, givenKey(asked[4]), now)),
    genSignedCert: varying([...names, CERTIFICATE], (...asked) => signed(asked, freshKey(), now)),
    genSignedCertWithKey: varying([...names, CERTIFICATE, STRING], (...asked) => {
      return signed(asked, givenKey(asked[5]), now);
    }),
  };
}

function freshKey(): PrivateKey {
  return generateRsaKey(RSA_BITS);
}

function givenKey(pem: GoValue | undefined): PrivateKey {
  return within("parsing private key", () => readPrivateKey(toBinary(text(pem))));
}

type Asked = readonly GoValue[];

function authority([name, days]: Asked, key: PrivateKey, now: () => Date): Certificate {
  const request = { ...requestFor([name, null, null, days], now), isAuthority: true };
  return issue(request, key, { certificate: undefined, key });
}

function selfSigned(asked: Asked, key: PrivateKey, now: () => Date): Certificate {
  return issue(requestFor(asked, now), key, { certificate: undefined, key });
}

function signed(asked: Asked, key: PrivateKey, now: () => Date): Certificate {
  const [, , , , authority] = asked;
  if (!(authority instanceof Certificate)) throw new Error(`wrong type for value; expected ${CERTIFICATE}`);
  const certificate = readCertificatePem(toBinary(authority.cert));
  const signingKey = within("error parsing private key", () => readPrivateKey(toBinary(authority.key)));
  return issue(requestFor(asked, now), key, { certificate, key: signingKey });
}

function issue(request: Request, key: PrivateKey, issuer: Issuer): Certificate {
  const der = within("error creating certificate", () => createCertificate(request, key, issuer));
  return new Certificate(encodePem("CERTIFICATE", der), key.pem());
}

function readCertificatePem(binary: string): Parent {
  const block = decodePem(binary);
  if (block === undefined) throw new Error("unable to decode certificate");
  return within("error parsing certificate", () => readCertificate(block.bytes));
}

/** Builds a request from the arguments that most functions share: name, addresses, DNS names and days. */
function requestFor(
  [name, addresses, dnsNames, days = null]: readonly (GoValue | undefined)[],
  now: () => Date,
): Request {
  return {
    commonName: text(name),
    addresses: listOf(addresses).map(addressOf),
    dnsNames: listOf(dnsNames).map(dnsNameOf),
    ...validity(now(), toInt64(days)),
    serial: numberOf(crypto.getRandomValues(new Uint8Array(16))),
    isAuthority: false,
  };
}

/** The validity of a certificate. As in Go, whose durations are 64-bit nanoseconds, more than 292 years overflow. */
function validity(now: Date, days: bigint): { readonly notBefore: bigint; readonly notAfter: bigint } {
  const start = BigInt(now.getTime());
  const nanoseconds = BigInt.asIntN(64, days * 86_400_000_000_000n);
  return { notBefore: floorDivided(start, 1000n), notAfter: floorDivided(start * 1_000_000n + nanoseconds, 10n ** 9n) };
}

function floorDivided(value: bigint, by: bigint): bigint {
  const remainder = value % by;
  return (value - (remainder < 0n ? remainder + by : remainder)) / by;
}

function addressOf(value: GoValue): Uint8Array {
  if (typeof value !== "string") throw new Error(`error parsing ip: ${sprint(value)} is not a string`);
  const address = parseAddress(value);
  if (typeof address === "string" || address.zone !== "") throw new Error(`error parsing ip: ${value}`);
  const isIpv4 = address.family === 4 || address.value >> 32n === 0xffffn;
  return unsignedBytes(isIpv4 ? address.value & 0xffffffffn : address.value, isIpv4 ? 4 : 16);
}

function dnsNameOf(value: GoValue): string {
  if (typeof value === "string") return value;
  throw new Error(`error processing alternate dns name: ${sprint(value)} is not a string`);
}

/** Decodes a certificate and a key from base64 of PEM and checks both. */
function customCertificate(cert: string, key: string): Certificate {
  const certPem = decoded(cert, "unable to decode base64 certificate");
  const keyPem = decoded(key, "unable to decode base64 private key");
  readCertificatePem(toBinary(certPem));
  within("error parsing private key", () => readPrivateKey(toBinary(keyPem)));
  return new Certificate(certPem, keyPem);
}

function decoded(base64: string, problem: string): string {
  try {
    return stringOf(bytesOfBinary(decodeBase64(toBinary(base64))));
  } catch {
    // The text is not base64.
    throw new Error(problem);
  }
}
