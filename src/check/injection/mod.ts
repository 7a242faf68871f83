/**
 * Why a workload is injected or not. In: a workload of a cluster or a manifest. Out: every rule that API server and
 * webhook ask, what decided, what the live pods have, and the commands that change it (`explainInjection`), as text
 * or JSON.
 */
export type { Explanation } from "./explanation.ts";
export { explainInjection, type InjectionQuestion } from "./explain_injection.ts";
export { readWorkloadName } from "./target.ts";
export { explanationJson, explanationText } from "./print.ts";
