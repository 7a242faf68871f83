import type { Check } from "../check.ts";
import { WEBHOOK_CHECKS } from "./webhook.ts";

/** Every check, in the order in which results are told. */
export const ALL_CHECKS: readonly Check[] = [
  ...WEBHOOK_CHECKS,
];
