/**
 * X.509 certificates and private keys, as Go's crypto/x509 makes and reads them. In: what a certificate shall say, and
 * keys, fresh or from PEM. Out: certificates and requests for them in DER, PEM of both (`encodePem`), of a certificate
 * that is there what goes into those that it signs (`readCertificate`), and what a program that keeps certificates has to
 * know (`readFacts`), and whether a key is that of a certificate (`checkPair`).
 */
export { createCertificate, DnsNameError, type Issuer, type Parent, type Request } from "./certificate.ts";
export { checkPair, factsOfCertificate, type KeyPair, type PairNames } from "./check_pair.ts";
export { createRequest } from "./csr.ts";
export { numberOf, unsignedBytes } from "./der/der.ts";
export { DerReader, sameBytes } from "./der/der_reader.ts";
export { type CurveName, generateEcKey } from "./keys/ec_key.ts";
export { generateRsaKey, genPrivateKey, makeRsaKey } from "./keys/generate_key.ts";
export { loadP521 } from "./keys/p521.ts";
export { decodePem, decodePems, encodePem, type PemBlock } from "./der/pem.ts";
export { pkcs8Pem } from "./pkcs8.ts";
export type { PrivateKey, Signer } from "./keys/private_key.ts";
export { readCertificate } from "./read_certificate.ts";
export { type Facts, isSignedBy, readFacts } from "./read_facts.ts";
export { readPrivateKey, within } from "./keys/read_key.ts";
