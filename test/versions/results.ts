/** The results in `results.json`, and their tables for docs/versions.md. */
import { minorOf } from "./releases.ts";

/** The source of a result. */
interface Source {
  readonly release: string;
  /** The commit that the tag names. */
  readonly commit: string;
  /** The day of the run, in UTC. */
  readonly date: string;
}

/** A release's own tests of injection, replayed. */
export interface InjectionResult extends Source {
  /** SHA-256 of the test, its cases and the chart, as `git archive` gives them. */
  readonly sha256: string;
  readonly cases: number;
  readonly agree: number;
  /** Cases that differ on purpose, by reason. */
  readonly deliberate: Readonly<Record<string, number>>;
  /** Expected files of cases that differ without a reason, or that cannot be read. */
  readonly differ: readonly string[];
}

/** Pods in the mesh of a release's istiod. */
export interface IstiodResult extends Source {
  /** Modules that replace the required ones. */
  readonly replaced: readonly string[];
  /** SHA-256 of the program `pilot-discovery`; empty if it cannot be built. */
  readonly sha256: string;
  readonly passed: number;
  /** Names of the checks that failed. */
  readonly failed: readonly string[];
  /** Why nothing ran, or why checks fail for a reason outside of this program. */
  readonly problem?: string;
}

/** A server or a proxy of another project. */
export interface ServerResult {
  readonly server: "kubernetes" | "envoy";
  readonly version: string;
  /** The day of the run, in UTC. */
  readonly date: string;
  readonly passed: number;
  /** Names of the checks that failed. */
  readonly failed: readonly string[];
}

/** All results. */
export interface Results {
  readonly injection: readonly InjectionResult[];
  readonly istiods: readonly IstiodResult[];
  readonly servers: readonly ServerResult[];
}

/** The day of a run. */
export function today(): string {
  return new Date().toISOString().slice(0, 10);
}

/** The tables in docs/versions.md, by the name between their marks. */
export function tablesOf({ injection, istiods, servers }: Results): Readonly<Record<string, string>> {
  const ofServer = (server: ServerResult["server"]) =>
    table(
      `tools/deno task test versions ${server}`,
      ["version", "day", "checks passed", "failed"],
      servers.filter((each) => each.server === server).toSorted((a, b) => minorOf(a.version) - minorOf(b.version))
        .map(({ version, date, passed, failed }) => [version, date, passed, failed.length]),
    );
  return {
    injection: table(
      "tools/deno task test versions FOLDER injection",
      ["Istio", "day", "cases", "agree", "differ on purpose", "differ"],
      injection.map(({ release, date, cases, agree, deliberate, differ }) => {
        const onPurpose = Object.values(deliberate).reduce((sum, count) => sum + count, 0);
        return [release, date, cases, agree, onPurpose, differ.length];
      }),
    ),
    istiod: table(
      "tools/deno task test versions FOLDER istiod",
      ["Istio", "day", "checks passed", "failed", "built with"],
      istiods.map(({ release, date, passed, failed, replaced, problem, sha256 }) => {
        const counts = sha256 === "" ? ["", ""] : [passed, failed.length];
        const modules = replaced.length === 0 ? "its own modules" : replaced.join(", ");
        return [release, date, ...counts, problem ?? modules];
      }),
    ),
    kubernetes: ofServer("kubernetes"),
    envoy: ofServer("envoy"),
  };
}

function table(command: string, titles: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(" | ")} |`;
  return [`\`${command}\``, "", line(titles), `|${"---|".repeat(titles.length)}`, ...rows.map(line), ""].join("\n");
}
