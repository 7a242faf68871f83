import assert from "node:assert/strict";
import { fakeWorld } from "../../platform/mod.ts";
import { expandInputs } from "./inputs.ts";
import { type ManifestFlags, openedUnlessSmall } from "./manifests.ts";
import { outputTarget } from "./output.ts";

const FLAGS: ManifestFlags = {
  filename: [],
  recursive: false,
  kustomize: undefined,
  output: "yaml",
  patch: false,
  diff: undefined,
  inPlace: false,
  report: "text",
  keepGoing: false,
  namespace: undefined,
  templatePath: [],
};

/** Whether there is a file for output before permissions are given up. */
async function opens(flags: Partial<ManifestFlags>): Promise<boolean> {
  const world = fakeWorld({ files: { "small.yaml": "a: 1", "large.yaml": " ".repeat(300_000), "folder/a.yaml": "" } });
  const inputs = await expandInputs(world, flags.filename ?? ["small.yaml"], false).catch(() => []);
  return openedUnlessSmall(world, { ...FLAGS, ...flags }, outputTarget("yaml"), { inputs }) !== undefined;
}

Deno.test("openedUnlessSmall() opens no file for small files, and one for all other inputs", async () => {
  assert.equal(await opens({ filename: ["small.yaml", "small.yaml"] }), false);
  const others = ["large.yaml", "folder", "gone.yaml", "-", "https://example.com/small.yaml", "*.yaml"];
  for (const name of others) assert.equal(await opens({ filename: ["small.yaml", name] }), true, name);
  for (const flags of [{ kustomize: "folder" }, { keepGoing: true }, { diff: "external" }] as const) {
    assert.equal(await opens({ filename: ["small.yaml"], ...flags }), true);
  }
});
