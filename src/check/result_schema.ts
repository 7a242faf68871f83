/** The JSON of `check -o json`. Import it for types only: printing needs no zod. */
import { z } from "zod";
import { SHOWN_FIX } from "./advice/advice_schema.ts";

const CHECK_RESULT = z.strictObject({
  id: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/).describe("stable id: the anchor in docs/checks.md"),
  category: z.string(),
  title: z.string().describe("the healthy state as a statement"),
  result: z.enum(["ok", "warning", "error", "skipped", "unknown"]).describe(
    "skipped: what it needs is absent; unknown: it is not known, for example because reading is forbidden",
  ),
  message: z.string().describe("empty if there is nothing to say"),
  becauseOf: z.string().describe("the id of the check whose failure explains it; empty if none does"),
  fixes: z.array(SHOWN_FIX).readonly().describe("what to do about it; empty if all is well"),
  hint: z.string().describe("the command that explains the check; empty if all is well"),
  missingRight: z.string().describe(
    "the right without which the result is unknown, such as `list on pods`; empty if none is missing",
  ),
  objects: z.array(z.string()).readonly().describe("what it is about, such as `pod/shop/cart-1`"),
});

/** The results of all checks. */
export const CHECK_RESULTS = z.strictObject({
  success: z.boolean().describe(
    "true where the exit code is 0: no check failed, and in no category all results are unknown",
  ),
  unknown: z.number().int().describe("how many checks could not be made"),
  checks: z.array(CHECK_RESULT).readonly(),
}).describe("The output of `kubectl mesh check -o json`, and of `-o yaml`");

/** The result of a check, with every field present. */
export type CheckResult = Readonly<z.infer<typeof CHECK_RESULT>>;

export type CheckResults = Readonly<z.infer<typeof CHECK_RESULTS>>;
