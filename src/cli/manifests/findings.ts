/** Filters the findings of rules by the user's flags, and decides which findings are failures. */
import { UsageError } from "../../base/errors.ts";
import { counted } from "../../base/text/mod.ts";
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

/** The filter of a run, which counts the findings that are failures. */
export interface Findings {
  readonly off: RulesOff;
  /** Returns the entry without the findings of the baseline. */
  entry(entry: ReportEntry): ReportEntry;
  together(findings: readonly InputFinding[]): readonly InputFinding[];
  /** Records warnings about the configuration. */
  warnings(all: readonly unknown[]): void;
  /** Says how many findings made the run fail; `undefined` if none did. */
  readonly failure: string | undefined;
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
  let failures = 0;
  const failed = new Set<string>();
  const count = (severity: string, rule?: string) => {
    if (!fails.includes(severity)) return;
    failures++;
    if (rule !== undefined) failed.add(rule);
  };
  const countWarnings = (all: readonly unknown[]) => all.forEach(() => count("warning"));
  return {
    off,
    entry(entry) {
      const next = known.newOf(entry);
      for (const { severity, rule } of next.findings ?? []) count(severity, rule);
      countWarnings(inject.warningsWithoutRule(next));
      return next;
    },
    together(findings) {
      const next = findings.filter((finding) => known.isNew(finding));
      for (const { severity, rule } of next) count(severity, rule);
      return next;
    },
    warnings: countWarnings,
    fails: (severity) => fails.includes(severity),
    get failure() {
      if (failures === 0) return undefined;
      // The report prints a finding of each severity as a warning.
      const warnings = counted(failures, "warning");
      if (wanted.failOn === "warning") return `${warnings} (--fail-on warning)`;
      return `${warnings} of severity "error" (--fail-on error): ${[...failed].join(", ")}`;
    },
  };
}
