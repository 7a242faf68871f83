/**
 * Why a workload is injected or not. In: a workload of a cluster or a manifest. Out: every rule of API server and
 * webhook, the deciding one, the state of the live pods, and the commands that change the result
 * (`explainInjection`), as text or JSON.
 */
export type { Explanation } from "./explanation.ts";
export { explainInjection, type InjectionQuestion } from "./explain_injection.ts";
export { readWorkloadName } from "../../kube/client/mod.ts";
export { explanationJson, type ExplanationLook, explanationText, explanationYaml, overviewText } from "./print.ts";
