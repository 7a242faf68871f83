/** Inputs so large that quadratic work takes minutes or crashes. Only linear work finishes in time. */
import assert from "node:assert/strict";
import { changeStream, configurationOf, injection, newInjector, type ReportEntry } from "../mod.ts";

const injector = newInjector({
  ...configurationOf({}),
  byHand: true,
  env: () => undefined,
  now: () => new Date(0),
});

async function inject(text: string, output: "yaml" | "json" = "yaml") {
  const bytes = new TextEncoder().encode(text);
  let written = 0;
  const entries: ReportEntry[] = [];
  const sink = {
    write: (part: string) => void (written += part.length),
    report: (entry: ReportEntry) => void entries.push(entry),
  };
  const chunks = async function* () {
    yield bytes;
  };
  await changeStream([{ file: "f", chunks }], injection(injector), { output, sink });
  return { written, entries };
}

const repeat = (count: number, text: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => text(index)).join("");

const HEAD = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n";
const SPEC = "spec:\n  template:\n    spec:\n      containers:\n      - {name: a, image: b}\n";
const annotated = (lines: string) =>
  `${HEAD}spec:\n  template:\n    metadata:\n      annotations:\n${lines}    spec:\n      containers: [{name: a}]\n`;

const TEXTS: readonly (readonly [name: string, text: () => string])[] = [
  ["800,000 blank lines", () => `${HEAD}${"\n".repeat(800_000)}${SPEC}`],
  ["a plain scalar of 12 MB", () => `${HEAD}x: ${"a b ".repeat(3_000_000)}c\n${SPEC}`],
  ["a quoted scalar of 12 MB with escapes", () => `${HEAD}x: "${"a\\n".repeat(4_000_000)}"\n${SPEC}`],
  ["a quoted scalar of 3 MB with quotes", () => `${HEAD}x: '${"a''".repeat(1_000_000)}'\n${SPEC}`],
  ["40,000 annotations", () => annotated(repeat(40_000, (index) => `        a${index}: b\n`))],
  [
    "40,000 annotations on one line",
    () => annotated("").replace("annotations:", `annotations: {${repeat(40_000, (index) => `a${index}: b, `)}z: z}`),
  ],
  ["500,000 numbers and commas", () => `${HEAD}x: "${"1,".repeat(500_000)}"\n${SPEC}`],
];

for (const [name, text] of TEXTS) {
  Deno.test(`inject reads ${name} in linear time`, async () => {
    const { entries } = await inject(text());
    assert.deepEqual(entries.map(({ result }) => result), ["injected"]);
  });
}

Deno.test("inject reads a List of 500 Pods on one line in linear time", async () => {
  const items = Array.from({ length: 500 }, (_, index) => ({
    kind: "Pod",
    metadata: { name: `p${index}` },
    spec: { containers: [{ name: "a", image: "b" }] },
  }));
  const { entries } = await inject(JSON.stringify({ kind: "List", items }));
  assert.equal(entries.filter(({ result }) => result === "injected").length, 500);
});

Deno.test("inject gives the place of 10,000 failures in a List on one line in linear time", async () => {
  const items = repeat(10_000, () => "{kind: Pod}, ");
  const { entries } = await inject(`{kind: List, items: [${items}]}\n`);
  assert.equal(entries.length, 10_000);
  assert.equal(entries.at(-1)?.error?.place?.column, items.length + 9);
});

Deno.test("inject refuses a text of 1 MB with 10,000 aliases, which would be 10 GB of JSON", async () => {
  const text = `kind: ConfigMap\na: &a ${"x".repeat(1_000_000)}\nb: [${"*a, ".repeat(10_000)}]\n`;
  const { entries } = await inject(text, "json");
  assert.match(entries[0]?.message ?? "", /aliases of the document expand to too many characters/);
});

Deno.test("inject warns of 30,000 duplicate keys on one line in linear time", async () => {
  const { entries } = await inject(`{kind: ConfigMap, ${"a: b, ".repeat(30_000)}}\n`);
  assert.equal(entries[0]?.warnings.length, 29_999);
});
