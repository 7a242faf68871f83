/**
 * Removes secrets from values and texts that come from a cluster, such as pods, Envoy's configuration and Helm values.
 */
export { Redactor, type Removed } from "./redactor.ts";
