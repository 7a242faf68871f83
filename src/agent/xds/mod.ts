/**
 * Envoy's connection to the control plane. In: where that is, and an identity (`XdsOptions`). Out: a Unix socket that Envoy's
 * bootstrap names, whose connections lead there over TLS with the certificate of the workload, and `problem()`, which says
 * why they do not.
 */
export type { XdsIdentity, XdsOptions, XdsProxy, XdsRoots, XdsSettings } from "./options.ts";
export { startXds } from "./server.ts";
export { controlPlaneEndpoint } from "./upstream.ts";
