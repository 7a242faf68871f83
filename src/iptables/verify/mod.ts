/**
 * Proof that traffic is captured. In: settings and the pod's network. Out: for each flow whether it arrives at the
 * proxy's port, escapes, or cannot be proved by this process, and why.
 */
export type { Flow, FlowKind, FlowResult } from "./flow.ts";
export { differences, rulesFor } from "./missing_rules.ts";
export { resultJson, resultLine, resultTable } from "./report.ts";
export { verifyCapture, type VerifyInput } from "./verify.ts";
