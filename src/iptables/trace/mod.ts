/** Rules as they are or as they are planned, and the way of a connection through them. Pure. */
export { type Packet } from "./packet.ts";
export { plannedRules, savedRules, type SavedTexts, type TracedRule, type TracedRules } from "./rules.ts";
export { type Fate, type Trace, trace } from "./trace.ts";
