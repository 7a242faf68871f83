/** The JSON of `check -o json`. Import only types from this file: printing does not need zod. */
import { z } from "zod";
import { SHOWN_FIX } from "./advice/advice_schema.ts";

const CHECK_RESULT = z.strictObject({
  id: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/).describe("stable id: the anchor in docs/checks.md"),
  category: z.string(),
  title: z.string().describe("the healthy state, as a statement"),
  result: z.enum(["ok", "warning", "error", "skipped", "unknown"]).describe(
    "skipped: a needed object or check result is missing; unknown: for example because reading is forbidden",
  ),
  message: z.string().describe("the reason for the result; may be empty"),
  becauseOf: z.string().describe("id of the check whose failure causes this result; empty without a cause"),
  fixes: z.array(SHOWN_FIX).readonly().describe("fixes of the problem; empty if the check passes"),
  hint: z.string().describe("the command that explains the check; empty if the check passes"),
  missingRight: z.string().describe(
    "the missing right that makes the result unknown, such as `list on pods`; may be empty",
  ),
  objects: z.array(z.string()).readonly().describe("the affected objects, such as `pod/shop/cart-1`"),
});

export const CHECK_RESULTS = z.strictObject({
  success: z.boolean().describe(
    "true if the exit code is 0: no check failed, and each category has at least one known result",
  ),
  unknown: z.number().int().describe("number of checks that could not run"),
  checks: z.array(CHECK_RESULT).readonly(),
}).describe("The output of `kubectl mesh check -o json`, and of `-o yaml`");

/** The result of a check. Every field is present. */
export type CheckResult = Readonly<z.infer<typeof CHECK_RESULT>>;

export type CheckResults = Readonly<z.infer<typeof CHECK_RESULTS>>;
