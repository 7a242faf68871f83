/**
 * Traffic capture: settings (a command line and an environment) in; rules in the kernel of a network namespace, their
 * text, or the proof that they work, out.
 */
export { runIptables } from "./run.ts";
export { FLAG_GROUPS as CAPTURE_FLAGS } from "./settings/flags.ts";
export {
  type Fate,
  type Packet,
  plannedRules,
  savedRules,
  type SavedTexts,
  type Trace,
  trace,
  type TracedRule,
  type TracedRules,
} from "./trace/mod.ts";
export type { CaptureSettings } from "./settings/settings.ts";
