import assert from "node:assert/strict";

const SCRIPT = decodeURIComponent(new URL("./testdata/abort_of_body.ts", import.meta.url).pathname);

Deno.test("realFetch: a body ends with its signal, although nobody holds the answer that it came with", async () => {
  const args = ["run", "--quiet", "--no-check", "--allow-all", "--v8-flags=--expose-gc", SCRIPT];
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  assert.equal(new TextDecoder().decode(stdout), "AbortError\n", new TextDecoder().decode(stderr));
});
