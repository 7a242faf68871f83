/**
 * What happens to a connection in a pod: a snapshot (raw answers of Envoy, the kernel and the API server) and a question in;
 * stations with what decided, their source and a verdict out.
 */
export { explain } from "./run.ts";
export type { Connection, PodChoice, Question, SourceChoice } from "./question/question.ts";
export { flagsOfLine, readFlags } from "./ends/response_flags.ts";
export { readConnection } from "./question/read_connection.ts";
export { askProxy, type ProxyAnswer } from "./proxy_answer.ts";
export { saveSnapshot } from "./save.ts";
