/** Formats the report. It has one entry for each resource, printed as text or JSON lines. */
import { errorLine, type MeshError, saysField } from "../../base/errors.ts";
import { goJson, OrderedFields } from "../../golang/go_json.ts";
import { resourceName } from "../../kube/mod.ts";
import { type Finding, findingText } from "../rules/rule.ts";
import type { Described } from "../rules/input_rules.ts";
import type { InputFinding } from "../rules/rules.ts";
import type { ReportLine, TogetherLine } from "./report_schema.ts";

export type Result = ReportLine["result"];

export interface ReportEntry extends Omit<ReportLine, "line" | "column" | "hint"> {
  readonly error?: MeshError;
  /** The line where the resource starts, for warnings without a line. Absent if the resource has no warnings. */
  readonly start?: number | undefined;
}

/** Returns the warnings that are not findings of a rule. */
export function warningsWithoutRule(
  { warnings, findings = [] }: Pick<ReportEntry, "warnings" | "findings">,
): readonly string[] {
  const ofRules = new Set(findings.map(findingText));
  return warnings.filter((warning) => !ofRules.has(warning));
}

/**
 * Returns the lines of an entry: `deployment.apps/web skipped: pod uses the host network`, then its warnings. With
 * `severalFiles`, results end with ` (a.yaml)`, as in kubectl, and warnings start with `a.yaml: `.
 */
export function entryLines(entry: ReportEntry, { severalFiles }: { readonly severalFiles: boolean }): string[] {
  const name = displayName(entry);
  const file = severalFiles ? entry.file : "";
  const result = `${name} ${outcome(entry)}${file === "" ? "" : ` (${file})`}`;
  const about = file === "" ? name : `${file}: ${name}`;
  return [
    entry.error === undefined ? result : `error: ${errorLine(named(entry.error, entry))}`,
    ...entry.warnings.map((warning) => `warning: ${about}: ${warning}`),
  ];
}

/** Returns the resource's name; for a nameless resource, its kind and document number. */
function displayName({ apiVersion, kind, name, document }: Described): string {
  if (kind === "") return `document ${document}`;
  const full = resourceName(apiVersion, kind, name);
  return name === "" ? `${full.replace(/\/$/, "")} (document ${document})` : full;
}

function outcome({ result, message, webhook, revision }: ReportEntry): string {
  const done = result === "injected" || result === "uninjected" ? result : `${result}: ${message}`;
  return webhook === undefined ? done : `${done} by revision "${revision}", webhook ${webhook}`;
}

function named(error: MeshError, entry: ReportEntry): Pick<MeshError, "message" | "place" | "hint"> {
  if (entry.name === "") return error;
  const { place, hint } = error;
  const field = saysField(error.message, place?.field) ? "" : place?.field ?? "";
  const message = `${displayName(entry)}: ${field === "" ? "" : `${field}: `}${error.message}`;
  return { message, place: { ...place, field: "" }, hint };
}

export function entryJson({ error, webhook, revision, findings = [], ...entry }: ReportEntry): string {
  const { file, document, apiVersion, kind, namespace, name, result, reason, field, message, warnings } = entry;
  const { line, column } = error?.place ?? {};
  const reported: ReportLine = {
    ...{ file, document, apiVersion, kind, namespace, name, result, reason, field, message, warnings },
    ...(findings.length === 0 ? {} : { findings: findings.map(ordered) }),
    ...(webhook === undefined ? {} : { webhook }),
    ...(revision === undefined ? {} : { revision }),
    ...(line === undefined ? {} : { line }),
    ...(column === undefined ? {} : { column }),
    ...(error?.hint === undefined ? {} : { hint: error.hint }),
  };
  return goJson(new OrderedFields(Object.entries(reported)), { escapeHtml: false });
}

/** Formats a finding about several resources as a warning about the resource that has the field. */
export function togetherText(finding: InputFinding, { severalFiles }: { readonly severalFiles: boolean }): string {
  const { described } = finding;
  const about = severalFiles ? `${described.file}: ` : "";
  return `warning: ${about}${displayName(described)}: ${findingText(finding)}`;
}

/** Formats a finding about several resources as one JSON line. */
export function togetherJson({ described, ...finding }: InputFinding): string {
  const line: TogetherLine = { ...described, findings: [ordered(finding)] };
  return goJson(new OrderedFields(Object.entries(line)), { escapeHtml: false });
}

function ordered({ rule, severity, field, message, fix, line }: Finding): OrderedFields & Finding {
  const fields = { rule, severity, field, message, fix, ...line === undefined ? {} : { line } };
  return Object.assign(new OrderedFields(Object.entries(fields)), fields);
}
