import assert from "node:assert/strict";
import { parse } from "../../golang/gotemplate/mod.ts";
import { templateFunctions } from "../render/functions/mod.ts";
import { templateEnv } from "./template_env.ts";

const env = (name: string) => ({ TOKEN: "s3cret", OTHER: "o", ENABLE_NATIVE_SIDECARS: "true" })[name];

Deno.test("templates see Istio's variables and those that are added", () => {
  const seen = templateEnv(env, { names: ["OTHER"] })("sidecar");
  assert.deepEqual(["TOKEN", "OTHER", "ENABLE_NATIVE_SIDECARS", "constructor"].map(seen), [
    undefined,
    "o",
    "true",
    undefined,
  ]);
});

Deno.test("a variable that is set and hidden is noted once for each template, also by a name that is computed", () => {
  const notes: string[] = [];
  const seen = templateEnv(env, { names: ["OTHER"], setBy: "spec.templateEnv", note: (text) => void notes.push(text) });
  const render = (template: string, text: string) => {
    const funcs = templateFunctions({ env: seen(template), now: () => new Date(0) });
    return parse("inject", text, { funcs }).render({});
  };
  const text = '{{ env "OTHER" "" }}{{ env (print "TO" "KEN") "x" }}{{ env "TOKEN" "x" }}{{ env "UNSET" "x" }}';
  assert.equal(render("sidecar", text), "oxxx");
  assert.equal(render("grpc", '{{ expandenv "$TOKEN-$UNSET" }}'), "-");
  const end = ' reads the environment variable "TOKEN", which templates cannot read; add it with spec.templateEnv';
  assert.deepEqual(notes, [`The template "sidecar"${end}`, `The template "grpc"${end}`]);
});
