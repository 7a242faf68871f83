/** Removes secrets from values and texts of a cluster: pods, Envoy's configuration, Helm values. */
export { Redactor, type Removed } from "./redactor.ts";
