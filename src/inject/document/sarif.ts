/**
 * Formats the report as SARIF 2.1.0 (OASIS): one run, with a result for each finding, each other warning and each failure.
 */
import { VERSION } from "../../version.ts";
import type { Described } from "../rules/input_rules.ts";
import { type Finding, findingText } from "../rules/rule.ts";
import { type InputFinding, RULES } from "../rules/rules.ts";
import type { FileWarning } from "../config/unknown_keys.ts";
import { type ReportEntry, warningsWithoutRule } from "./report.ts";

const SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json";

/** The SARIF rule for warnings that are not findings of a rule in RULES. */
const MANIFEST_WARNING = {
  id: "manifest-warning",
  shortDescription: {
    text: "A manifest or a file of the configuration has a part that Kubernetes, Istio or kustomize rejects or ignores",
  },
  defaultConfiguration: { level: "warning" },
};

/** Matches the line number at the start of a warning. */
const LINE = /^line (\d+): /;

const NO_OBJECT = { document: 1, apiVersion: "", kind: "", namespace: "", name: "" };

/** Collects results. `text` returns the SARIF document. */
export class Sarif {
  readonly #results: object[] = [];
  readonly #failures = new Set<string>();

  warnings(warnings: readonly FileWarning[]): void {
    for (const { file, message } of warnings) this.#addWarning({ ...NO_OBJECT, file }, message, undefined);
  }

  entry(entry: ReportEntry): void {
    for (const warning of warningsWithoutRule(entry)) this.#addWarning(entry, warning, entry.start);
    for (const finding of entry.findings ?? []) this.#add(entry, finding);
    if (entry.result !== "failed") return;
    this.#failures.add(entry.reason);
    const { field, message, reason, error } = entry;
    const text = error?.hint === undefined ? message : `${message}; ${error.hint}`;
    this.#results.push(result(entry, { rule: reason, severity: "error", field, line: error?.place?.line, text }));
  }

  together(finding: InputFinding): void {
    this.#add(finding.described, finding);
  }

  text(): string {
    const failures = [...this.#failures].map((id) => ({
      id,
      shortDescription: { text: `The resource cannot be injected (${id})` },
      defaultConfiguration: { level: "error" },
    }));
    const rules = RULES.map(({ id, title, severity, istio }) => ({
      id,
      shortDescription: { text: title },
      defaultConfiguration: { level: severity },
      ...istio === undefined ? {} : { properties: { istio } },
    }));
    const driver = { name: "kubectl-mesh", version: VERSION, rules: [...rules, MANIFEST_WARNING, ...failures] };
    const run = { tool: { driver }, columnKind: "utf16CodeUnits", results: this.#results };
    return `${JSON.stringify({ $schema: SCHEMA, version: "2.1.0", runs: [run] }, null, 2)}\n`;
  }

  #addWarning(described: Described, warning: string, start: number | undefined): void {
    const found = LINE.exec(warning)?.[1];
    const line = found === undefined ? start : Number(found);
    const text = warning.replace(LINE, "");
    const said = { rule: MANIFEST_WARNING.id, severity: "warning", field: "", line, text, subject: text } as const;
    this.#results.push(result(described, said));
  }

  #add(described: Described, finding: Finding): void {
    const { rule, severity, field, line } = finding;
    this.#results.push(result(described, { rule, severity, field, line, text: findingText(finding) }));
  }
}

interface Said {
  readonly rule: string;
  readonly severity: Finding["severity"];
  readonly field: string;
  readonly line: number | undefined;
  readonly text: string;
  /** Distinguishes the result from other results of the same rule and object. Default: `field`. */
  readonly subject?: string;
}

function result(
  { file, apiVersion, kind, namespace, name }: Described,
  { rule, severity, field, line, text, subject = field }: Said,
) {
  const object = [apiVersion, kind, namespace, name].filter((part) => part !== "").join("/");
  const region = line === undefined ? {} : { region: { startLine: line } };
  return {
    ruleId: rule,
    level: severity,
    message: { text: object === "" ? text : `${object}: ${text}` },
    locations: [{
      ...file === "" || file === "standard input" ? {} : {
        physicalLocation: { artifactLocation: { uri: uriOf(file) }, ...region },
      },
      logicalLocations: [{
        fullyQualifiedName: [object, field].filter((part) => part !== "").join("#"),
        kind: "object",
      }],
    }],
    partialFingerprints: { "kubectl-mesh/v1": [rule, object, subject].join(" ") },
  };
}

/** Converts a path to a URI. A relative path stays relative, so that CI systems can map it to a file in the repository. */
function uriOf(file: string): string {
  if (/^https?:\/\//.test(file)) return file;
  const path = file.replaceAll("\\", "/").split("/").map(encodeURIComponent).join("/").replace(/^\.\//, "");
  return path.startsWith("/") ? `file://${path}` : path;
}
