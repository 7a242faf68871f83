/** docs/inject.md explains every reason that the report of `inject` can have, also with --as-webhook, and no other. */
import assert from "node:assert/strict";
import { filesBelow, read } from "./source.ts";

/** Where the source writes a reason: as a field, as the first argument of an error or of a helper. */
const WRITTEN = /\b(?:reason: |InjectionError\(\s*|no\(\s*|plain\(\s*)(["`][^"`]+["`])/g;

/** Parts of reasons that the source puts together. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  "`${requested.kind}-inject-${requested.value}`": [
    "label-inject-true",
    "label-inject-false",
    "annotation-inject-true",
    "annotation-inject-false",
  ],
  "`annotation-inject-${inject}`": ["annotation-inject-true", "annotation-inject-false"],
};

/** An id of a plain MeshError, which is not expected: its reason is `failed`. */
const UNEXPECTED = "failed";

/** Beside src/inject: where `--as-webhook` decides. */
const AS_WEBHOOK = [
  "src/check/webhook_judge.ts",
  "src/check/injection/verdict.ts",
  "src/check/injection/not_called.ts",
];

function reasonsInSource(): readonly string[] {
  const inject = filesBelow("src/inject").filter((path) => path.endsWith(".ts") && !path.endsWith("_test.ts"));
  const sources = [...inject, ...AS_WEBHOOK];
  const written = sources.flatMap((path) => [...read(path).matchAll(WRITTEN)].map(([, literal = ""]) => literal));
  return [...new Set(written.flatMap((literal) => PARTS[literal] ?? [literal.slice(1, -1)]))].sort();
}

function reasonsInDocument(): readonly string[] {
  const [, table = ""] = /\n\| reason \| result \| meaning \|\n((?:\|.*\n)+)/.exec(read("docs/inject.md")) ?? [];
  const firstCells = table.split("\n").map((row) => row.split("|")[1] ?? "");
  return firstCells.flatMap((cell) => [...cell.matchAll(/`([^`]+)`/g)].map(([, id = ""]) => id)).sort();
}

Deno.test("docs/inject.md explains every reason of the report, once, and no other", () => {
  const inSource = reasonsInSource();
  assert.ok(inSource.includes("pod-host-network") && inSource.includes("no-containers"));
  assert.deepEqual(reasonsInDocument(), [...inSource, UNEXPECTED].sort());
});
