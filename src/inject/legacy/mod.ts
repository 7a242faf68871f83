/**
 * Injection with configurations of Istio 1.0 to 1.8. One template renders lists (`initContainers`, `containers`, `volumes`,
 * ...), which are appended to the pod's lists. `loadLegacy` loads the configuration once. `injectLegacy` then returns each
 * pod as the configuration's release would inject it.
 */
export { injectLegacy } from "./inject.ts";
export { type Legacy, loadLegacy } from "./load.ts";
