/** Filters the findings of rules by the user's flags, and decides which findings are failures. */
import { UsageError } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import type { InputFinding, ReportEntry, RulesOff } from "../../inject/mod.ts";

type InjectModule = typeof import("../../inject/mod.ts");

/** Maximum size of a baseline, in bytes. Enough for all findings of thousands of manifests. */
const MAX_BASELINE_BYTES = 64 * 1024 * 1024;

interface Wanted {
  readonly ignoreRules?: readonly string[] | undefined;
  readonly baseline?: string | undefined;
  readonly failOn?: "error" | "warning" | undefined;
}

/** The filter of a run, which records whether any finding is a failure. */
export interface Findings {
  readonly off: RulesOff;
  /** Returns the entry without the findings of the baseline. */
  entry(entry: ReportEntry): ReportEntry;
  together(findings: readonly InputFinding[]): readonly InputFinding[];
  /** Records warnings about the configuration. */
  warnings(lines: readonly string[]): void;
  readonly hasFailed: boolean;
  /** Whether a finding of this severity makes the run fail. */
  fails(severity: string): boolean;
}

/** Creates the filter. Throws a UsageError for an unknown rule, and a MeshError for an unreadable baseline. */
export async function findingsFor(world: World, wanted: Wanted, inject: InjectModule): Promise<Findings> {
  const off = new Set(wanted.ignoreRules ?? []);
  for (const id of off) {
    if (inject.RULES.some((rule) => rule.id === id)) continue;
    throw new UsageError(`The rule "${id}" does not exist`, { hint: inject.unknownRule(id) });
  }
  const file = wanted.baseline;
  const known = file === undefined
    ? new inject.Baseline()
    : new inject.Baseline(await world.files.readText(file, MAX_BASELINE_BYTES), file);
  const fails: readonly string[] =
    { error: ["error"], warning: ["error", "warning"], none: [] }[wanted.failOn ?? "none"];
  let hasFailed = false;
  const count = (severity: string) => hasFailed ||= fails.includes(severity);
  return {
    off,
    entry(entry) {
      const next = known.newOf(entry);
      for (const { severity } of next.findings ?? []) count(severity);
      if (next.warnings.length > 0) count("warning");
      return next;
    },
    together(findings) {
      const next = findings.filter((finding) => known.isNew(finding));
      for (const { severity } of next) count(severity);
      return next;
    },
    warnings(lines) {
      if (lines.length > 0) count("warning");
    },
    fails: (severity) => fails.includes(severity),
    get hasFailed() {
      return hasFailed;
    },
  };
}
