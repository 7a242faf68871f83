import assert from "node:assert/strict";
import { hiddenEnvNotes, templateEnv } from "./template_env.ts";

const env = (name: string) => ({ TOKEN: "s3cret", OTHER: "o", ENABLE_NATIVE_SIDECARS: "true" })[name];

Deno.test("templates see Istio's variables and those that are added", () => {
  const seen = templateEnv(env, ["OTHER"]);
  assert.deepEqual(["TOKEN", "OTHER", "ENABLE_NATIVE_SIDECARS", "constructor"].map(seen), [
    undefined,
    "o",
    "true",
    undefined,
  ]);
});

Deno.test("a variable that is set and hidden is noted once", () => {
  const text = '{{ env "TOKEN" }}{{ env "TOKEN" }}{{ env "OTHER" }}{{ env "UNSET" }}{{ env "ENABLE_NATIVE_SIDECARS" }}';
  const [note = "", ...more] = hiddenEnvNotes(text, env, ["OTHER"]);
  assert.deepEqual(more, []);
  assert.match(note, /"TOKEN".*--template-env TOKEN/);
  const [without = ""] = hiddenEnvNotes(text, env, undefined);
  assert.doesNotMatch(without, /--template-env/);
});
