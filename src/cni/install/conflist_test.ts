import assert from "node:assert/strict";
import { alone, hasPlugin, isConfiguration, withoutPlugin, withPlugin } from "./conflist.ts";

const ENTRY = { type: "mesh-cni", pod_namespace: "mesh" };
const LIST = {
  cniVersion: "1.0.0",
  name: "k8s",
  disableCheck: true,
  plugins: [{ type: "bridge", mtu: 1450 }, { type: "istio-cni" }],
};

Deno.test("the plugin is the last of a list, once, and all else stays", () => {
  const text = withPlugin(withPlugin(JSON.stringify(LIST), { type: "mesh-cni", old: true }), ENTRY);
  assert.deepEqual(JSON.parse(text), { ...LIST, plugins: [...LIST.plugins, ENTRY] });
  assert.ok(hasPlugin(text));
  assert.deepEqual(JSON.parse(withoutPlugin(text)), LIST);
});

Deno.test("the configuration of one plugin becomes a list with its name and version", () => {
  const text = withPlugin('{"cniVersion":"0.4.0","name":"mine","type":"bridge","mtu":9}', ENTRY);
  assert.deepEqual(JSON.parse(text), {
    cniVersion: "0.4.0",
    name: "mine",
    plugins: [{ type: "bridge", mtu: 9 }, ENTRY],
  });
});

Deno.test("a separate configuration has the network name that Multus uses", () => {
  assert.deepEqual(JSON.parse(alone(ENTRY)), { cniVersion: "0.3.1", name: "istio-cni", ...ENTRY });
  assert.ok(hasPlugin(alone(ENTRY)));
});

const WRONG = ["", "[]", "{", '{"name":"x"}', '{"plugins":[]}', '{"plugins":["bridge"]}', "null"];

for (const text of WRONG) {
  Deno.test(`${JSON.stringify(text)} is no configuration, and is not changed`, () => {
    assert.equal(isConfiguration(text), false);
    assert.equal(hasPlugin(text), false);
    assert.throws(() => withPlugin(text, ENTRY), /not a CNI network configuration/);
  });
}
