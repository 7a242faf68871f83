/** The results of a replay, as they are kept beside this file, and their table for docs/versions.md. */

/** The results of one release. */
export interface ReleaseResult {
  readonly release: string;
  /** The commit that the tag names. */
  readonly commit: string;
  /** SHA-256 of the test, its cases and the chart, as `git archive` gives them. */
  readonly sha256: string;
  readonly cases: number;
  readonly agree: number;
  /** Cases that differ on purpose, by reason. */
  readonly deliberate: Readonly<Record<string, number>>;
  /** Expected files of cases that differ without a reason, or that cannot be read. */
  readonly differ: readonly string[];
}

/** The results of all releases. */
export interface Results {
  /** The day of the run, in UTC. */
  readonly date: string;
  readonly releases: readonly ReleaseResult[];
}

/** The rows of the table in docs/versions.md. */
export function resultTable({ date, releases }: Results): string {
  const rows = releases.map(({ release, cases, agree, deliberate, differ }) => {
    const onPurpose = Object.values(deliberate).reduce((sum, count) => sum + count, 0);
    return `| ${release} | ${cases} | ${agree} | ${onPurpose} | ${differ.length} |`;
  });
  return [
    `Replayed on ${date} by \`tools/deno task test versions FOLDER\`, where FOLDER is a clone of istio/istio with its tags.`,
    "",
    "| Istio | cases | agree | differ on purpose | differ |",
    "|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}
