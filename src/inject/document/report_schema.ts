/** Schema of the JSON that `inject --report json` writes. Import only types from this file: printing does not need zod. */
import { z } from "zod";

const FINDING = z.strictObject({
  rule: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/).describe("stable ID of the rule; docs/inject.md lists the IDs"),
  severity: z.enum(["error", "warning", "note"]),
  field: z.string().describe("the field in the resource"),
  message: z.string(),
  fix: z.string().describe("what to do"),
  line: z.int().min(1).exactOptional().describe("line of the field in the file"),
}).describe("A finding of a rule");

const RESOURCE = z.strictObject({
  file: z.string().describe('the input file as given, "-" for standard input'),
  document: z.int().min(1).describe("number of the YAML document in the file, from 1"),
  apiVersion: z.string(),
  kind: z.string(),
  namespace: z.string(),
  name: z.string(),
  result: z.enum(["injected", "uninjected", "skipped", "unchanged", "failed"]),
  reason: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/).describe("stable ID of the deciding rule or of the error"),
  field: z.string().describe("the deciding or invalid field; may be empty"),
  message: z.string(),
  warnings: z.array(z.string()).readonly().describe(
    "warnings as text, including findings of severity warning or error",
  ),
  findings: z.array(FINDING).readonly().exactOptional(),
  webhook: z.string().exactOptional().describe("with --as-webhook: the webhook that injects the pod"),
  revision: z.string().exactOptional().describe("with --as-webhook: the revision of the webhook's control plane"),
  line: z.int().min(1).exactOptional().describe("line of the error in the file"),
  column: z.int().min(1).exactOptional().describe("column of the error in the line"),
  hint: z.string().exactOptional().describe("how to fix the error"),
}).describe("The result for one resource");

/** A line with findings about several resources. It names the resource that has the field, and follows all other lines. */
const TOGETHER = z.strictObject({
  ...RESOURCE.pick({ file: true, document: true, apiVersion: true, kind: true, namespace: true, name: true }).shape,
  findings: z.array(FINDING).readonly(),
}).describe("Findings about several resources; these lines come last");

export const REPORT_LINE = z.union([RESOURCE, TOGETHER]).describe(
  "One line of `kubectl mesh inject --report json`, and of `uninject`",
);

export type ReportLine = Readonly<z.infer<typeof RESOURCE>>;
export type TogetherLine = Readonly<z.infer<typeof TOGETHER>>;
