/** The JSON of `check injection -o json`. Import it for types only: printing needs no zod. */
import { z } from "zod";
import { SHOWN_FIX } from "../advice/advice_schema.ts";

const RULE_LINE = z.strictObject({
  rule: z.string().describe("the name of a webhook, or of a rule of the injector"),
  field: z.string().describe("what was read: of the namespace, of the pod, or of the configuration"),
  value: z.string().nullable().describe("null if it is absent"),
  effect: z.enum([
    "called",
    "not-called",
    "no-answer",
    "injects",
    "does-not-inject",
    "refuses",
    "not-asked",
    "unknown",
  ]).describe("called and not-called come from the API server, all others from the webhook"),
  message: z.string().describe("may be empty"),
});

const LIVE_POD = z.strictObject({
  pod: z.string(),
  phase: z.string(),
  proxy: z.boolean().describe("the pod has a proxy"),
  native: z.boolean().describe("the proxy is a native sidecar"),
  ready: z.boolean().describe("the kubelet reports the proxy as ready"),
  revision: z.string().nullable().describe("revision of the control plane that injected it; null if not noted"),
  image: z.string().nullable().describe("image of the proxy"),
});

const FINDING = z.strictObject({
  rule: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/).describe("stable id of the rule; docs/inject.md has all"),
  severity: z.enum(["error", "warning", "note"]),
  field: z.string(),
  message: z.string(),
  fix: z.string().describe("what to do"),
});

/** Why a workload is injected or not. */
export const EXPLANATION = z.strictObject({
  workload: z.string().describe("such as `deployment.apps/web`; empty for a document that cannot be read"),
  verdict: z.enum(["injected", "not-injected", "refused", "cannot-tell"]).describe(
    "what happens to a new pod; refused: it is not created; cannot-tell: what decides cannot be read",
  ),
  injected: z.boolean().nullable().describe("null unless it is known"),
  by: z.string().nullable().describe(
    "the webhook that injects: never null if injected is true; `assumed` with -f and without a cluster, `dry-run` where " +
      "only a dry run shows it",
  ),
  reason: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/).describe("stable id"),
  rules: z.array(RULE_LINE).readonly().describe("in the order in which the API server and the webhook ask them"),
  live: z.array(LIVE_POD).readonly(),
  namespace: z.string(),
  file: z.string().nullable().describe("the file of a manifest; null for an object of the cluster"),
  document: z.int().min(1).nullable().describe("number of the YAML document in the file, from 1"),
  field: z.string().describe("the field that decided; may be empty"),
  message: z.string(),
  warnings: z.array(z.string()).readonly().describe("also the findings that are no notes, as text"),
  findings: z.array(FINDING).readonly().exactOptional().describe("with -f: what the rules of `inject` find"),
  fix: z.array(z.string()).readonly().describe(
    "the commands of the first advice; what is to be done where no command can do it",
  ),
  fixes: z.array(SHOWN_FIX).readonly().describe("all that changes it"),
}).describe("One line of `kubectl mesh check injection -o json`, and one document of `-o yaml`");

/** One rule. */
export type RuleLine = Readonly<z.infer<typeof RULE_LINE>>;

export type ExplanationLine = Readonly<z.infer<typeof EXPLANATION>>;
