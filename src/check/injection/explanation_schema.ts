/** The JSON of `check injection -o json`. Import only types from this file: printing does not need zod. */
import { z } from "zod";
import { SHOWN_FIX } from "../advice/advice_schema.ts";

const RULE_LINE = z.strictObject({
  rule: z.string().describe("name of a webhook or of an injector's rule"),
  field: z.string().describe("the tested field of the namespace, the pod, or the configuration"),
  value: z.string().nullable().describe("value of the field; null if the field is absent"),
  effect: z.enum([
    "called",
    "not-called",
    "no-answer",
    "injects",
    "does-not-inject",
    "refuses",
    "not-asked",
    "unknown",
  ]).describe("called and not-called are decisions of the API server, all others of the webhook"),
  message: z.string().describe("may be empty"),
});

const LIVE_POD = z.strictObject({
  pod: z.string(),
  phase: z.string(),
  proxy: z.boolean().describe("whether the pod has a proxy"),
  native: z.boolean().describe("whether the proxy is a native sidecar"),
  ready: z.boolean().describe("whether the kubelet reports the proxy as ready"),
  revision: z.string().nullable().describe(
    "revision of the control plane that injected the pod; null if the pod does not name it",
  ),
  image: z.string().nullable().describe("image of the proxy"),
});

const FINDING = z.strictObject({
  rule: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/).describe("stable id of the rule; see docs/inject.md"),
  severity: z.enum(["error", "warning", "note"]),
  field: z.string(),
  message: z.string(),
  fix: z.string().describe("what to do"),
});

export const EXPLANATION = z.strictObject({
  workload: z.string().describe("such as `deployment.apps/web`; empty for a document that cannot be parsed"),
  verdict: z.enum(["injected", "not-injected", "refused", "cannot-tell"]).describe(
    "what happens to a new pod; refused: the pod is not created; cannot-tell: data that the verdict needs cannot be read",
  ),
  injected: z.boolean().nullable().describe("whether a webhook injects a new pod; null unless it is known"),
  by: z.string().nullable().describe(
    "the webhook that injects the pod; not null if injected is true; `assumed` without a cluster, `dry-run` if " +
      "only a dry run shows the injection",
  ),
  reason: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/).describe("stable id"),
  rules: z.array(RULE_LINE).readonly().describe(
    "in the order in which the API server and the webhook evaluate the rules",
  ),
  live: z.array(LIVE_POD).readonly(),
  namespace: z.string(),
  file: z.string().nullable().describe("file of the manifest; null for an object of the cluster"),
  document: z.int().min(1).nullable().describe("number of the YAML document in the file, from 1"),
  field: z.string().describe("the field that decides the result; may be empty"),
  message: z.string(),
  warnings: z.array(z.string()).readonly().describe("warnings, and findings except notes, as text"),
  findings: z.array(FINDING).readonly().exactOptional().describe("with -f: findings of the rules of `inject`"),
  fix: z.array(z.string()).readonly().describe(
    "the commands of the first advice, or its text if the user must make the change by hand",
  ),
  fixes: z.array(SHOWN_FIX).readonly().describe("alternatives that change the result"),
}).describe("One line of `kubectl mesh check injection -o json`, and one document of `-o yaml`");

export type RuleLine = Readonly<z.infer<typeof RULE_LINE>>;

export type ExplanationLine = Readonly<z.infer<typeof EXPLANATION>>;
