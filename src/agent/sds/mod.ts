/**
 * Secrets for Envoy by SDS: the certificate of the workload, whom it trusts, and certificates in files that mesh
 * configuration names. In: an identity that changes, and names that Envoy asks for. Out: a gRPC stream for each Envoy and
 * secret, which gets each new one; what Envoy refuses is logged and told.
 */
export type { SdsIdentity } from "./identity_secrets.ts";
export { type Sds, type SdsOptions, startSds } from "./server.ts";
