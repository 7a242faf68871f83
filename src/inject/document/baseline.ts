/** Known findings, from the output of an earlier `--report json`. They are not reported again. */
import { parseJson } from "../../base/json.ts";
import { MeshError } from "../../base/errors.ts";
import { isMap, mapsAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import type { Described } from "../rules/input_rules.ts";
import { type Finding, findingText } from "../rules/rule.ts";
import type { InputFinding } from "../rules/rules.ts";
import type { ReportEntry } from "./report.ts";

/** The known findings of each resource. File names and line numbers are ignored, so manifests may move. */
export class Baseline {
  readonly #known = new Set<string>();

  /** Reads a report, one JSON object per line. Throws a MeshError for a line that is not a JSON object. */
  constructor(text = "", file = "") {
    for (const [index, line] of text.split("\n").entries()) {
      if (line.trim() === "") continue;
      const entry = parseJson(line);
      if (!isMap(entry)) {
        throw new MeshError("The baseline is not a report of --report json: the line is not a JSON object", {
          place: { file, line: index + 1 },
          hint: "write it with --report json 2> FILE",
        });
      }
      this.#read(entry);
    }
  }

  /** Returns the entry without its known findings. */
  newOf(entry: ReportEntry): ReportEntry {
    if (this.#known.size === 0) return entry;
    const warnings = entry.warnings.filter((text) => !this.#knows(entry, text));
    const findings = (entry.findings ?? []).filter((finding) => !this.#knows(entry, findingText(finding)));
    const { findings: _, ...rest } = entry;
    return { ...rest, warnings, ...findings.length === 0 ? {} : { findings } };
  }

  isNew(finding: InputFinding): boolean {
    return !this.#knows(finding.described, findingText(finding));
  }

  #read(entry: ValueMap): void {
    const { apiVersion, kind, namespace, name } = {
      apiVersion: textAt(entry, "apiVersion"),
      kind: textAt(entry, "kind"),
      namespace: textAt(entry, "namespace"),
      name: textAt(entry, "name"),
    };
    const texts = mapsAt(entry, "findings").map((finding) => findingText(readFinding(finding)));
    for (const text of [...textsAt(entry, "warnings"), ...texts]) {
      this.#known.add(key({ apiVersion, kind, namespace, name }, text));
    }
  }

  #knows(object: Described, text: string): boolean {
    return this.#known.has(key(object, text));
  }
}

function readFinding(finding: ValueMap): Finding {
  const text = (name: string) => textAt(finding, name);
  return { rule: text("rule"), severity: "note", field: text("field"), message: text("message"), fix: text("fix") };
}

/** Matches the line number at the start of a warning. */
const LINE = /^line \d+: /;

function key({ apiVersion, kind, namespace, name }: Omit<Described, "file" | "document">, text: string): string {
  return JSON.stringify([apiVersion, kind, namespace, name, text.replace(LINE, "")]);
}
