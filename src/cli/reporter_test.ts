import assert from "node:assert/strict";
import { fakeWorld, type FakeWorldOptions } from "../core/world/mod.ts";
import { main } from "./mod.ts";

const POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {hostNetwork: true, containers: [{name: app}]}\n";

async function told(args: string, options: FakeWorldOptions = {}): Promise<string> {
  const files = { "a.yaml": POD, "empty.yaml": "", "bad.yaml": "a: [\n" };
  const world = fakeWorld({ files, ...options, args: `inject ${args}`.split(" ") });
  await main(world);
  return world.said.stderr;
}

Deno.test("reporter() names the file only where there are several", async () => {
  assert.equal(await told("-f a.yaml"), "pod/a skipped: pod uses the host network\n");
  assert.equal(
    await told("-f a.yaml,empty.yaml"),
    "pod/a skipped: pod uses the host network (a.yaml)\n",
  );
});

Deno.test("reporter() says in text that there was nothing to do", async () => {
  assert.match(await told("-f empty.yaml"), /^warning: There is no manifest in the input/);
  assert.equal(await told("-f empty.yaml --report json"), "");
  assert.equal(await told("-f empty.yaml --report none"), "");
});

Deno.test("reporter() shows the source line of an error at a terminal alone", async () => {
  assert.equal((await told("-f bad.yaml")).split("\n").length, 2);
  assert.match(await told("-f bad.yaml", { terminal: true }), /^error: bad\.yaml: .*\n {2}a: \[\n {2} +\^\n$/);
});

Deno.test("reporter() tells that a file is not written, but not among JSON", async () => {
  assert.match(await told("-f bad.yaml -o out.yaml"), /\nerror: "out.yaml" is not written: .*\n$/);
  assert.doesNotMatch(await told("-f bad.yaml -o out.yaml --report json"), /not written/);
});
