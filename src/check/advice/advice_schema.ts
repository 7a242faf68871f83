/** Advice in the JSON of `check` and `check injection`. Import only types from this file: printing does not need zod. */
import { z } from "zod";

export const SHOWN_ADVICE = z.strictObject({
  change: z.string().describe("the change, as an imperative clause"),
  scope: z.enum(["nothing", "workload", "namespace", "webhook", "mesh", "cluster"]).describe(
    "how far the change reaches; nothing: the commands only read",
  ),
  risk: z.enum(["none", "loosens", "enrols", "takes-out"]).describe(
    "loosens: a policy admits more; enrols: pods of a namespace outside the mesh are injected; takes-out: pods lose " +
      "their proxy when they are recreated; the first advice of a list has the risk none",
  ),
  commands: z.array(z.string()).readonly().describe(
    "shell commands to run in this order; empty if the user must make the change by hand",
  ),
  needs: z.array(z.string()).readonly().describe("the rights of the commands, such as `patch namespaces`"),
  forbidden: z.array(z.string()).readonly().describe(
    "the needed rights that the user lacks, according to the API server (SelfSubjectAccessReview)",
  ),
});

export const SHOWN_FIX = z.strictObject({
  objects: z.array(z.string()).readonly().describe("the objects that the fix is for; may be empty"),
  alternatives: z.array(SHOWN_ADVICE).readonly().describe(
    "one alternative is enough; the smallest harmless change comes first",
  ),
});

export type ShownAdvice = Readonly<z.infer<typeof SHOWN_ADVICE>>;

export type ShownFix = Readonly<z.infer<typeof SHOWN_FIX>>;
