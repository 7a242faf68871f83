/**
 * Proof that traffic is captured. In: settings and the pod's network. Out: for each flow whether it arrives at the
 * proxy's port, escapes, or cannot be proved by this process, and why.
 */
export { verify } from "./run.ts";
