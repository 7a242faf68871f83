import assert from "node:assert/strict";

const SCRIPT = decodeURIComponent(
  new URL("../../../../test/support/runtime/abort_of_body.ts", import.meta.url).pathname,
);

Deno.test("realFetch: the signal ends a body whose Response was collected as garbage", async () => {
  const args = ["run", "--quiet", "--no-check", "--allow-all", "--v8-flags=--expose-gc", SCRIPT];
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args }).output();
  assert.equal(new TextDecoder().decode(stdout), "AbortError\n", new TextDecoder().decode(stderr));
});
