import assert from "node:assert/strict";
import { fakeWorld, type FakeWorldOptions } from "../../../test/support/fake_world.ts";
import { main } from "../mod.ts";

const BUILT_IN = "note: Configuration: built-in for Istio 1.31.1\n";
const POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {hostNetwork: true, containers: [{name: app}]}\n";

async function said(args: string, options: FakeWorldOptions = {}): Promise<string> {
  const files = { "a.yaml": POD, "empty.yaml": "", "bad.yaml": "a: [\n" };
  const world = fakeWorld({ files, ...options, args: `inject ${args}`.split(" ") });
  await main(world);
  return world.said.stderr;
}

Deno.test("reporter() names the file only where there are several", async () => {
  const end = "1 skipped\n";
  assert.equal(await said("-f a.yaml"), `${BUILT_IN}pod/a skipped: pod uses the host network\n${end}`);
  assert.equal(
    await said("-f a.yaml,empty.yaml"),
    `${BUILT_IN}pod/a skipped: pod uses the host network (a.yaml)\n${end}`,
  );
});

Deno.test("reporter() says in text that there was nothing to do", async () => {
  assert.match(await said("-f empty.yaml"), /\nwarning: The input contains no manifest/);
  assert.equal(await said("-f empty.yaml --report json"), "");
  assert.equal(await said("-f empty.yaml --report none"), "");
});

Deno.test("reporter() shows the source line of an error at a terminal alone", async () => {
  assert.equal((await said("-f bad.yaml --report none")).split("\n").length, 2);
  const atTerminal = await said("-f bad.yaml --report none", { terminal: true, env: { NO_COLOR: "1" } });
  assert.match(atTerminal, /error: bad\.yaml: .*\n {2}a: \[\n {2} +\^\n$/);
});

Deno.test("reporter() says that a file is not written, but not among JSON", async () => {
  assert.match(await said("-f bad.yaml -o out.yaml"), /\nerror: "out.yaml" is not written: .*\n$/);
  assert.doesNotMatch(await said("-f bad.yaml -o out.yaml --report json"), /not written/);
});

Deno.test("reporter() of changed omits skipped resources, except for misspelled kinds, and counts them", async () => {
  assert.equal(await said("-f a.yaml --report changed"), `${BUILT_IN}1 skipped\n`);
  const files = { "a.yaml": "apiVersion: apps/v1\nkind: Deploymnet\nmetadata: {name: a}\n" };
  assert.match(
    await said("-f a.yaml --report changed", { files }),
    /skipped: .* did you mean "Deployment"\?\n1 skipped\n$/,
  );
});

Deno.test("reporter() says where the output is, or that there is none", async () => {
  assert.match(await said("-f a.yaml -o out.yaml"), /\n1 skipped; written to "out.yaml"\n$/);
  assert.match(await said("-f bad.yaml"), /\n1 failed\n$/);
  assert.match(
    await said("-f a.yaml,bad.yaml"),
    /\n1 skipped, 1 failed\nerror: Nothing is written: .*--keep-going.*\n$/,
  );
  assert.match(
    await said("-f a.yaml,bad.yaml -o out.yaml --keep-going"),
    /\n1 skipped, 1 failed; written to "out.yaml"\n$/,
  );
});

Deno.test("reporter() reports at the end that findings fail the run, except in JSON, and not that a diff was written", async () => {
  const files = { "a.yaml": POD.replace("name: a", 'name: a, labels: {"sidecar.istio.io/inject": "no"}') };
  const one = "error: 1 warning (--fail-on warning)";
  for (const report of ["text", "changed", "none"]) {
    const text = await said(`-f a.yaml --fail-on warning --report ${report}`, { files });
    assert.ok(text.endsWith(`${one}; the output was written\n`), text);
  }
  assert.ok((await said("-f a.yaml --fail-on warning --diff", { files })).endsWith(`${one}\n`));
  assert.doesNotMatch(await said("-f a.yaml --fail-on error", { files }), /--fail-on/);
  for (const report of ["json", "sarif"]) {
    JSON.parse(await said(`-f a.yaml --fail-on warning --report ${report}`, { files }));
  }
});
