/**
 * Traffic capture: plans the rules for the settings, prints or applies the plan, and proves that the rules work.
 */
export { type Comparison, openCapture, type PodCapture } from "./capture.ts";
export { observe, type Observed } from "./observe/observe.ts";
export { runTrace, targetOf } from "./observe/run.ts";
export { runIptables } from "./run.ts";
export { FLAG_GROUPS as CAPTURE_FLAGS } from "./settings/flags.ts";
export type { Packet } from "./trace/packet.ts";
export { plannedRules, savedRules, type SavedTexts, type TracedRule, type TracedRules } from "./trace/rules.ts";
export { type Fate, type Trace, trace } from "./trace/trace.ts";
export type { CaptureSettings } from "./settings/settings.ts";
