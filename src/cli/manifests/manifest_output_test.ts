import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import type { ReportEntry, Summary } from "../../inject/mod.ts";
import { openManifestOutput } from "./manifest_output.ts";
import { outputTarget } from "./output.ts";

const FLAGS = { diff: undefined, inPlace: false, keepGoing: false, patch: false } as const;
const DONE: Summary = { injected: 1, uninjected: 0, skipped: 0, unchanged: 0, failed: 0 };
const FAILED: Summary = { ...DONE, failed: 1 };

const input = (name: string) => ({ file: name, name, chunks: none });

async function* none(): AsyncIterable<Uint8Array> {}

/** A world with an old file, and what is in its files and its standard output after a run. */
async function written(
  flags: Partial<typeof FLAGS> | { readonly keepGoing: true } | { readonly inPlace: true },
  output: string,
  summary: Summary | undefined,
) {
  const world = fakeWorld({ files: { "out.yaml": "old", "a.yaml": "old a", "b.yaml": "old b" } });
  const inputs = [input("a.yaml"), input("b.yaml")];
  let ended: unknown;
  {
    using opened = await openManifestOutput(world, { ...FLAGS, ...flags }, outputTarget(output), inputs);
    for (const each of inputs) {
      opened.begin?.(each);
      opened.write(`new ${each.name}\n`);
    }
    if (summary !== undefined) ended = await opened.end(summary);
  }
  const text = (path: string) => new TextDecoder().decode(world.content.get(path));
  return { ended, texts: ["out.yaml", "a.yaml", "b.yaml"].map(text), stdout: world.said.stdout };
}

const BOTH = "new a.yaml\nnew b.yaml\n";

Deno.test("standard output and a file get the whole output, unless a resource failed", async () => {
  assert.deepEqual(await written({}, "yaml", DONE), {
    ended: { file: undefined, isWritten: true, exitCode: 0 },
    texts: ["old", "old a", "old b"],
    stdout: BOTH,
  });
  assert.deepEqual((await written({}, "out.yaml", DONE)).texts, [BOTH, "old a", "old b"]);
  const failed = await written({}, "out.yaml", FAILED);
  assert.deepEqual(failed.ended, { file: "out.yaml", isWritten: false, exitCode: 1 });
  assert.deepEqual([failed.texts[0], (await written({}, "yaml", FAILED)).stdout], ["old", ""]);
  assert.deepEqual((await written({ keepGoing: true }, "out.yaml", FAILED)).texts[0], BOTH);
});

Deno.test("an output that is not finished leaves all files unchanged", async () => {
  for (const output of ["yaml", "out.yaml", "out/"]) {
    const { texts, stdout } = await written({}, output, undefined);
    assert.deepEqual([texts, stdout], [["old", "old a", "old b"], ""]);
  }
});

Deno.test("only changed files are rewritten in place", async () => {
  const unchanged = await written({ inPlace: true }, "yaml", DONE);
  assert.deepEqual(unchanged.texts, ["old", "old a", "old b"]);
  const world = fakeWorld({ files: { "a.yaml": "old a", "b.yaml": "old b" } });
  const inputs = [input("a.yaml"), input("b.yaml")];
  using output = await openManifestOutput(world, { ...FLAGS, inPlace: true }, outputTarget("yaml"), inputs);
  for (const each of inputs) {
    output.begin?.(each);
    output.write("new\n");
    if (each.name === "b.yaml") output.report?.(ENTRY);
  }
  assert.deepEqual(await output.end(DONE), { file: undefined, isWritten: true, files: 1, exitCode: 0 });
  const text = (path: string) => new TextDecoder().decode(world.content.get(path));
  assert.deepEqual([text("a.yaml"), text("b.yaml")], ["old a", "new\n"]);
});

const ENTRY: ReportEntry = {
  ...{ file: "b.yaml", document: 1, apiVersion: "v1", kind: "Pod", namespace: "", name: "b", field: "" },
  result: "injected",
  ...{ reason: "injected", message: "", warnings: [] },
};
