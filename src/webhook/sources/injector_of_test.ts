import assert from "node:assert/strict";
import { startLog } from "../../platform/log.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { injectPod, podOwner } from "../../inject/mod.ts";
import { injectorOf } from "./injector_of.ts";

const TEXT = `
defaultTemplates: [sidecar]
templates:
  sidecar: |
    metadata:
      annotations:
        a: '{{ env "SECRET_TOKEN" "hidden" }}{{ env "OTHER" "hidden" }}'
    spec: {containers: [{name: istio-proxy, image: p}]}
`;

Deno.test("injectorOf(): templates see the named variables, and a hidden one is noted once", async () => {
  const world = fakeWorld({ env: { SECRET_TOKEN: "s3cr3t", OTHER: "o" } });
  const config = { text: TEXT, file: "config.yaml" };
  const choice = { revision: "", templateEnv: ["OTHER"] };
  const injector = await injectorOf({ config }, choice, world, startLog(world, "webhook"));
  for (const name of ["a", "b"]) {
    const pod = { metadata: { name }, spec: { containers: [{ name: "app", image: "a" }] } };
    assert.equal(JSON.stringify(injectPod(pod, podOwner(pod, "shop"), injector)).includes('"a":"hiddeno"'), true);
  }
  const note =
    /reads the environment variable .*SECRET_TOKEN.*, which templates cannot read; add it with --template-env/g;
  assert.equal(world.said.stderr.match(note)?.length, 1, world.said.stderr);
});
