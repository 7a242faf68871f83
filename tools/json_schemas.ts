/**
 * Writes docs/schemas: JSON Schemas for the JSON that the program prints for other programs, and for the functionConfig
 * that it reads.
 */
import { z } from "zod";
import { EXPLANATION } from "../src/check/injection/explanation_schema.ts";
import { CHECK_RESULTS } from "../src/check/result_schema.ts";
import { UPGRADE } from "../src/check/upgrade/upgrade_schema.ts";
import { PILOT_AGENT_VERSION } from "../src/cli/commands/agent/pilot_agent_schema.ts";
import { VERSION_INFO } from "../src/cli/commands/version/version_schema.ts";
import { FUNCTION_CONFIG } from "../src/cli/kustomize/function_config.ts";
import { ANSWER } from "../src/explain/answer_schema.ts";
import { POD_SUMMARY } from "../src/explain/summary/pod_summary_schema.ts";
import type { Shape } from "../src/inject/config/shape.ts";
import { SNAPSHOT_SHAPE } from "../src/inject/config/snapshot_shape.ts";
import { REPORT_LINE } from "../src/inject/document/report_schema.ts";
import { VERIFICATION } from "../src/iptables/verify/report_schema.ts";
import { PLAN } from "../src/iptables/views/plan_schema.ts";

const SCHEMAS: Readonly<Record<string, z.core.$ZodType>> = {
  "check.json": CHECK_RESULTS,
  "check-injection.json": EXPLANATION,
  "check-upgrade.json": UPGRADE,
  "explain.json": ANSWER,
  "explain-pod.json": POD_SUMMARY,
  "inject-snapshot.json": schemaOf(SNAPSHOT_SHAPE),
  "inject-report.json": REPORT_LINE,
  "iptables-generate.json": PLAN,
  "iptables-verify.json": VERIFICATION,
  "kustomize-function.json": FUNCTION_CONFIG,
  "pilot-agent-version.json": PILOT_AGENT_VERSION,
  "version.json": VERSION_INFO,
};

/** Returns the files in docs/schemas, by name. */
export function schemaFiles(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(SCHEMAS).map(([name, schema]) => {
      const json = z.toJSONSchema(schema, { override: ({ jsonSchema }) => leaveOut(jsonSchema) });
      return [name, `${JSON.stringify(json, null, 2)}\n`];
    }),
  );
}

/** Converts a shape that the program checks without zod to a zod schema. */
function schemaOf(shape: Shape): z.ZodType {
  if (shape === "text") return z.string();
  if (shape === "number") return z.number();
  if (shape === "any") return z.unknown();
  if ("only" in shape) return z.literal(shape.only);
  if ("is" in shape) return schemaOf(shape.is).describe(shape.about);
  if ("either" in shape) return z.union(shape.either.map(schemaOf));
  if ("list" in shape) return z.array(schemaOf(shape.list));
  if ("map" in shape) return z.record(z.string(), schemaOf(shape.map));
  return z.object(Object.fromEntries(
    Object.entries(shape.fields).map(([key, inner]) =>
      key.endsWith("?") ? [key.slice(0, -1), schemaOf(inner).optional()] : [key, schemaOf(inner)]
    ),
  ));
}

/** Removes what only matters in TypeScript and JavaScript: `readonly`, and the limits of exact numbers. */
function leaveOut(schema: z.core.JSONSchema.BaseSchema): void {
  delete schema.readOnly;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
}

if (import.meta.main) {
  const folder = new URL("../docs/schemas/", import.meta.url);
  for (const [name, text] of schemaFiles()) Deno.writeTextFileSync(new URL(name, folder), text);
}
