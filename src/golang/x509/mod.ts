/**
 * Writes and reads X.509 certificates and private keys as Go's crypto/x509 does. In: requests, and keys (generated, or
 * read from PEM). Out: certificates and certificate signing requests in DER; the fields of a certificate
 * (`readCertificate`); whether a key belongs to a certificate (`checkPair`).
 */
export { createCertificate, createRequest, type Issuer, type Parent, type Request } from "./certificate.ts";
export { certificateInfo, checkPair, type KeyPair, type PairNames } from "./check_pair.ts";
export { distinguishedName } from "./read_certificate.ts";
export { numberOf, unsignedBytes } from "./der/der.ts";
export { DerReader } from "./der/der_reader.ts";
export { type CurveName, generateEcKey } from "./keys/ec_key.ts";
export { generateRsaKey, genPrivateKey, makeRsaKey } from "./keys/generate_key.ts";
export { p521Library } from "./keys/p521.ts";
export { decodePem, decodePems, encodePem } from "./der/pem.ts";
export { pkcs8Pem, type PrivateKey } from "./keys/private_key.ts";
export { type CertificateInfo, isSignedBy, readCertificate } from "./read_certificate.ts";
export { readPrivateKey, within } from "./keys/read_key.ts";
