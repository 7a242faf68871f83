/** Known findings, from the output of an earlier `--report json`. They are not reported again. */
import { parseJson } from "../../base/json.ts";
import { MeshError } from "../../base/errors.ts";
import { isMap, mapsAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import type { Described } from "../rules/input_rules.ts";
import { findingText } from "../rules/rule.ts";
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
    const of = (name: string) => textAt(entry, name);
    const object = { apiVersion: of("apiVersion"), kind: of("kind"), namespace: of("namespace"), name: of("name") };
    const findings = mapsAt(entry, "findings").map((finding) =>
      findingText({ message: textAt(finding, "message"), fix: textAt(finding, "fix"), rule: textAt(finding, "rule") })
    );
    for (const text of [...textsAt(entry, "warnings"), ...findings]) this.#known.add(key(object, text));
  }

  #knows(object: Described, text: string): boolean {
    return this.#known.has(key(object, text));
  }
}

/** Matches the line number at the start of a warning. */
const LINE = /^line \d+: /;

function key({ apiVersion, kind, namespace, name }: Omit<Described, "file" | "document">, text: string): string {
  return JSON.stringify([apiVersion, kind, namespace, name, text.replace(LINE, "")]);
}
