/**
 * Explains a connection in a pod. Input: a question and a snapshot (raw answers of Envoy, the kernel and the API
 * server). Output: stations with the deciding rule and its source, and a verdict.
 */
export { explain } from "./run.ts";
export { explainListing } from "./run_listing.ts";
export type { Connection, PodChoice, SourceChoice } from "./question/question.ts";
export { flagsOfLine, readFlags } from "./ends/response_flags.ts";
export { readConnection } from "./question/read_connection.ts";
export { askProxy, type ProxyAnswer } from "./proxy_answer.ts";
export { saveSnapshot } from "./save.ts";
