/** Removes secrets from values and texts of a cluster, such as pods, Envoy's configuration and Helm values. */
export { Redactor, type Removed } from "./redactor.ts";
