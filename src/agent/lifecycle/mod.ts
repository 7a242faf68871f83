/** The life of Envoy's processes, from the first start to the exit code of the agent. */
export { runLifecycle } from "./run.ts";
export { DEFAULT_GRACE, DEFAULT_RESTART, longestDrain } from "./rules.ts";
export type { DrainLimits, DrainRules, RestartRules, Rules } from "./rules.ts";
export type { EnvoyOptions, LifecycleControl, LifecycleOptions } from "./options.ts";
export type { Phase } from "./state.ts";
