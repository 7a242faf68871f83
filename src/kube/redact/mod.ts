/** Takes secrets out of values and texts of a cluster: pods, Envoy's configuration, values of a chart. */
export { Redactor, type Removed } from "./redactor.ts";
