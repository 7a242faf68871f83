/** The text against Istio's own is in test/oracle/pilot_agent and in test/golden. */
import assert from "node:assert/strict";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import type { ValueMap } from "../../../base/value.ts";
import { readSettings } from "../../settings/read.ts";
import { buildBootstrap } from "../bootstrap.ts";
import { istioText } from "./istio_text.ts";

async function bootstrapOf(env: Readonly<Record<string, string>>, words: readonly string[] = []): Promise<ValueMap> {
  const world = fakeWorld({ env: { INSTANCE_IP: "10.0.0.5", ...env } });
  return buildBootstrap(await readSettings(world, words, { name: "pilot-agent" }));
}

Deno.test("istioText: characters that break Istio's template are escaped", async () => {
  const proxy = {
    proxyStatsMatcher: { inclusionRegexps: ['a"=\\.'], inclusionPrefixes: ['p"\n'] },
    extraStatTags: ['t"'],
    tracing: { datadog: { address: "[::1]:8126" } },
  };
  const bootstrap = await bootstrapOf({ POD_NAME: 'a"\n\\', PROXY_CONFIG: JSON.stringify(proxy) });
  assert.deepEqual(JSON.parse(istioText(bootstrap)), JSON.parse(JSON.stringify(bootstrap)));
});

Deno.test("istioText: fields that Istio's template lacks are written too", async () => {
  const bootstrap = await bootstrapOf({ XDS_ROOT_CA: "/ca.pem" }, ["--xds", "direct"]);
  assert.deepEqual(JSON.parse(istioText(bootstrap)), JSON.parse(JSON.stringify(bootstrap)));
});

Deno.test("istioText: the PROXY protocol filter ends with a comma", async () => {
  const bootstrap = await bootstrapOf({ ENVOY_STATUS_PORT_ENABLE_PROXY_PROTOCOL: "true" });
  const text = istioText(bootstrap);
  assert.match(text, /"allow_requests_without_proxy_protocol": true,\n {12}\}/);
  assert.deepEqual(
    JSON.parse(text.replace('protocol": true,', 'protocol": true')),
    JSON.parse(JSON.stringify(bootstrap)),
  );
});
