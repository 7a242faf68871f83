import assert from "node:assert/strict";
import { parse } from "../../golang/gotemplate/mod.ts";
import { defaultProxyConfig, defaultsOf, proxyConfigView } from "../../istio/mod.ts";
import { legacyFunctions, type RenderScope } from "./functions.ts";

const WORLD = { env: (name: string) => name === "ZONE" ? "a" : undefined, now: () => new Date(0) };
const DATA = proxyConfigView(defaultProxyConfig(defaultsOf("1.1")));

function render(text: string, brackets: boolean): string {
  const scope: RenderScope = { data: DATA };
  const funcs = legacyFunctions(WORLD, scope);
  return parse("inject", text, brackets ? { funcs, leftDelim: "[[", rightDelim: "]]" } : { funcs }).render(DATA);
}

const RENDERS: readonly (readonly [string, boolean, string])[] = [
  ["[[ formatDuration .ConnectTimeout ]]", true, "1s"],
  ["[[ formatDuration .DiscoveryRefreshDelay ]]", true, "1s"],
  ["[[ formatDuration .ParentShutdownDuration ]]", true, "3s"],
  ['[[ excludeInboundPort 15020 "1, 2" ]]', true, "1,2,15020"],
  ['[[ "a\\nb" | indent 2 ]]', true, "a\n  b"],
  ['[[ directory "/a/b" ]]', true, "/a/"],
  ['{{ contains "/" "a/b" }} {{ toLower "AB" }} {{ upper "ab" }}', false, "true ab AB"],
  ['{{ env "ZONE" "b" }}{{ env "NO" "b" }}', false, "ab"],
  ['{{ render "{{ .ServiceCluster }}" }}', false, "istio-proxy"],
  ['{{ render "{{ .Nope }}" }}|{{ render "{{" }}', false, "|"],
  ['{{ appendMultusNetwork "" "istio-cni" }}', false, "istio-cni"],
];

for (const [text, brackets, expected] of RENDERS) {
  Deno.test(`legacyFunctions: ${JSON.stringify(text)}`, () => assert.equal(render(text, brackets), expected));
}
