/** Advice in the JSON of `check` and of `check injection`. Import it for types only: printing needs no zod. */
import { z } from "zod";

/** A fix of a finding. */
export const SHOWN_ADVICE = z.strictObject({
  change: z.string().describe("what it changes, as an imperative clause"),
  scope: z.enum(["nothing", "workload", "namespace", "webhook", "mesh", "cluster"]).describe(
    "how far the change reaches; nothing: it only shows more",
  ),
  risk: z.enum(["none", "loosens", "enrols", "takes-out"]).describe(
    "loosens: a policy admits more; enrols: pods of a namespace outside the mesh are injected; takes-out: pods lose " +
      "their proxy when they are recreated; the first advice of a list has the risk none",
  ),
  commands: z.array(z.string()).readonly().describe("to be run one after the other; empty if no command can do it"),
  needs: z.array(z.string()).readonly().describe("the rights of the commands, such as `patch namespaces`"),
  forbidden: z.array(z.string()).readonly().describe(
    "those that the user does not have, as the API server says (SelfSubjectAccessReview)",
  ),
});

/** The alternatives for some objects. */
export const SHOWN_FIX = z.strictObject({
  objects: z.array(z.string()).readonly().describe("what it is for; may be empty"),
  alternatives: z.array(SHOWN_ADVICE).readonly().describe(
    "one of them is enough; the smallest harmless change is first",
  ),
});

export type ShownAdvice = Readonly<z.infer<typeof SHOWN_ADVICE>>;

export type ShownFix = Readonly<z.infer<typeof SHOWN_FIX>>;
