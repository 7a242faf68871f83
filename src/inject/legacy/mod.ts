/**
 * Injection with configurations of Istio 1.0 to 1.8: one template renders lists (`initContainers`, `containers`, `volumes`,
 * ...), which are appended to the pod's. In: the configuration, once (`loadLegacy`), then each pod (`injectLegacy`). Out: the
 * pod as the release of the configuration injects it.
 */
export { injectLegacy } from "./inject.ts";
export { type Legacy, loadLegacy } from "./load.ts";
