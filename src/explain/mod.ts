/**
 * Explains a connection of a pod. The input is a question and a snapshot: raw responses of Envoy, the kernel and the
 * API server. The output is a list of stations, each with its deciding rule and the source of the rule, and a verdict.
 */
export { explain } from "./run.ts";
export { explainListing } from "./run_listing.ts";
export type { Connection, PodChoice, SourceChoice } from "./question/question.ts";
export { connectionOfLine, flagsOfLine, lastLogLine, otherConnection, readFlags } from "./ends/response_flags.ts";
export { readConnection } from "./question/read_connection.ts";
export { askProxy, type ProxyAnswer } from "./proxy_answer.ts";
export { saveSnapshot } from "./save.ts";
export { savedNames } from "./sources/sources.ts";
