/**
 * Configuration and snapshots up to the maximum size that is read: the largest of the three sizes is 16 MB. Sizes are
 * in megabytes.
 */
import { snapshotOf } from "../../src/explain/snapshot/manifest.ts";
import { answerOf } from "../../src/explain/answer.ts";
import { podSummary } from "../../src/explain/summary/pod_summary.ts";
import { snapshotFiles } from "../explain/explain_snapshot.ts";
import type { LinearCase } from "./case.ts";
import { configOf, configured, podOf } from "./configuration.ts";

const MEGABYTES = 4;
const LINE = 40;

/** Returns lines of 40 characters with a total of this many megabytes. The total stays below the limit of 16 MiB. */
function lines(megabytes: number, margin: string, text: (index: string) => string): string {
  const parts: string[] = [];
  for (let index = 0; index < megabytes * 1e6 / LINE; index++) {
    parts.push((margin + text(String(index))).padEnd(LINE - 1, "x"), "\n");
  }
  return parts.join("");
}

const CONFIGURATIONS: readonly (readonly [string, "template" | "values" | "mesh", (megabytes: number) => string])[] = [
  // The template gets four more spaces of indentation later.
  [
    "a template of comments",
    "template",
    (n) => configOf(podOf(`${lines(0.9 * n, "    ", (i) => `# ${i} `)}    a: b\n`)),
  ],
  ["a template of annotations", "template", (n) => configOf(podOf(lines(0.9 * n, "    ", (i) => `a${i}: `)))],
  ["values", "values", (n) => `global:\n  x:\n${lines(n, "    ", (i) => `k${i}: `)}`],
  ["unknown values", "values", (n) => lines(n, "", (i) => `k${i}: `)],
  ["mesh configuration", "mesh", (n) => `defaultConfig:\n  proxyMetadata:\n${lines(n, "    ", (i) => `K${i}: `)}`],
  ["unknown fields of the mesh", "mesh", (n) => lines(n, "", (i) => `k${i}: `)],
];

/** The number of clusters per megabyte, each with its route, its endpoints and their state. */
const CLUSTERS_OF_A_MEGABYTE = 240;
const CONNECTION = {
  direction: "outbound",
  host: "service-7.namespace-7.svc.cluster.local",
  port: 8080,
  spoken: "unsaid",
  method: "GET",
  path: "/",
  headers: [],
  sni: undefined,
} as const;

function sized(megabytes: number) {
  const clusters = megabytes * CLUSTERS_OF_A_MEGABYTE;
  const files = snapshotFiles({ clusters, endpoints: 2 * clusters });
  const parts = new Map([...files].map(([name, text]) => [name, { text }]));
  return {
    length: [...files.values()].reduce((sum, { length }) => sum + length, 0),
    snapshot: snapshotOf(parts, "a snapshot"),
  };
}

export const WHOLE_SIZE_CASES: readonly LinearCase[] = [
  ...CONFIGURATIONS.map(([name, kind, text]) => ({
    name: `16 MB: ${name}`,
    size: MEGABYTES,
    prepare: (n: number) => configured(text(n), kind),
  })),
  {
    name: "16 MB: explain of a connection",
    size: MEGABYTES,
    prepare(n) {
      const { length, snapshot } = sized(n);
      return { length, run: () => answerOf(snapshot, CONNECTION) };
    },
  },
  {
    name: "16 MB: explain of a pod",
    size: MEGABYTES,
    prepare(n) {
      const { length, snapshot } = sized(n);
      return { length, run: () => podSummary(snapshot) };
    },
  },
];
