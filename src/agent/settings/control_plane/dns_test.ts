import assert from "node:assert/strict";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import { readSettings } from "../read.ts";

const STANDARD = { isServed: false, address: "localhost:15053", isParallel: false, upstreamTimeout: 5000 };

const CASES: readonly (readonly [string, string, Record<string, string>, object])[] = [
  ["nothing asks for it", "sidecar", {}, STANDARD],
  ["questions are captured", "sidecar", { ISTIO_META_DNS_CAPTURE: "true" }, { ...STANDARD, isServed: true }],
  ["capture is off", "sidecar", { ISTIO_META_DNS_CAPTURE: "false" }, STANDARD],
  ["it is asked for", "sidecar", { ENABLE_DNS_SERVER: "true" }, { ...STANDARD, isServed: true }],
  ["a gateway has none", "router", { ISTIO_META_DNS_CAPTURE: "true", ENABLE_DNS_SERVER: "1" }, STANDARD],
  ["a gateway is asked for it", "router", { ISTIO_META_ENABLE_DNS_SERVER: "true" }, { ...STANDARD, isServed: true }],
  ["a sidecar is asked for it", "sidecar", { ISTIO_META_ENABLE_DNS_SERVER: "1" }, { ...STANDARD, isServed: true }],
  ["it is switched off", "router", { ISTIO_META_ENABLE_DNS_SERVER: "false" }, STANDARD],
  ["a gateway's proxy configuration asks for it", "router", {
    PROXY_CONFIG: '{"proxyMetadata":{"ISTIO_META_ENABLE_DNS_SERVER":"true"}}',
  }, { ...STANDARD, isServed: true }],
  ["the timeout is 0", "sidecar", { DNS_FORWARD_TIMEOUT: "0s" }, STANDARD],
  ["the proxy configuration asks for it", "sidecar", {
    PROXY_CONFIG: '{"proxyMetadata":{"ISTIO_META_DNS_CAPTURE":"true"}}',
  }, { ...STANDARD, isServed: true }],
  ["all is set", "sidecar", {
    ISTIO_META_DNS_CAPTURE: "1",
    DNS_PROXY_ADDR: "0.0.0.0:53",
    DNS_FORWARD_PARALLEL: "true",
    DNS_FORWARD_TIMEOUT: "1.5s",
  }, { isServed: true, address: "0.0.0.0:53", isParallel: true, upstreamTimeout: 1500 }],
];

Deno.test("readDns: whether and where DNS is served, and how questions are forwarded", async () => {
  for (const [what, role, env, expected] of CASES) {
    const pod = { POD_NAME: "web", POD_NAMESPACE: "shop", INSTANCE_IP: "10.0.0.1", ...env };
    const { dns } = await readSettings(fakeWorld({ env: pod }), [role], { name: "agent" });
    assert.deepEqual(dns, expected, what);
  }
});
