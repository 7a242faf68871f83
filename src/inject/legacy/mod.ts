/**
 * Injection with the configurations of Istio 1.0 to 1.8: one template that renders lists (`initContainers`, `containers`,
 * `volumes`, ...), which are appended to those of the pod. In: the configuration with what was given beside it, once
 * (`loadLegacy`); then a pod each time (`injectLegacy`). Out: the pod with its sidecar as the release of the
 * configuration made it.
 */
export { injectLegacy, type LegacyInput } from "./inject.ts";
export { type Legacy, type LegacySources, loadLegacy } from "./load.ts";
export type { Release } from "./release.ts";
