import type { Check } from "../check.ts";

/** Whether the webhooks of injectors are there, right, and reached. */
export const WEBHOOK_CHECKS: readonly Check[] = [];
