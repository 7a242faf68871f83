/** Readiness and metrics of a real Envoy with listeners and clusters from files. */
import assert from "node:assert/strict";
import { statusServer } from "../../support/agent/status.ts";
import { testWhen } from "../../support/test_when.ts";
import { needsPlace } from "./support/agent.ts";
import { envoy, Proxy } from "./support/proxy.ts";
import { until } from "../../support/until.ts";

/** Envoy rejects it: it has no filter chain. */
const REFUSED = {
  "@type": "type.googleapis.com/envoy.config.listener.v3.Listener",
  name: "refused",
  address: { socket_address: { address: "127.0.0.1", port_value: 1 } },
};

function statusOf({ ports }: Proxy) {
  const { admin } = ports;
  return statusServer({ envoy: { adminHost: "127.0.0.1", adminPort: admin, metricsPort: admin } });
}

async function ready(origin: string) {
  const response = await fetch(`${origin}/healthz/ready?verbose`);
  return { status: response.status, text: await response.text() };
}

/** Asks until the answer matches; returns that answer. */
async function textWith(origin: string, pattern: RegExp): Promise<string> {
  let text = "";
  await until(async () => pattern.test(text = (await ready(origin)).text), () => `The last answer is ${text}`);
  return text;
}

function testWithEnvoy(name: string, body: (proxy: Proxy) => Promise<void>) {
  testWhen(needsPlace("below PID 1") ?? envoy.missing, `readiness: ${name}`, async () => {
    await using proxy = await Proxy.make();
    await body(proxy);
  });
}

testWithEnvoy(
  "200 after the first listeners and clusters, and from then on; metrics of Envoy are merged",
  async (proxy) => {
    await using status = await statusOf(proxy);
    const before = await ready(status.origin);
    assert.equal(before.status, 503);
    assert.match(
      before.text,
      /^\[-\]admin failed: Envoy's admin interface failed: connection refused\n/,
    );
    const agent = await proxy.start("below PID 1");
    const text = await textWith(status.origin, /\nready\n$/);
    assert.match(text, /^\[\+\]admin ok.*\n\[\+\]config ok.*\n\[\+\]running ok.*\n\[\+\]server ok.*\n\[\+\]workers ok/);
    const metrics = await (await fetch(`${status.origin}/stats/prometheus?filter=server.live`)).text();
    assert.match(metrics, /^istio_agent_scrapes_total 1$/m);
    assert.match(metrics, /^envoy_server_live\{\} 1$/m);
    assert.doesNotMatch(metrics, /envoy_cluster/);
    await agent.command("quit");
    await agent.code;
    assert.equal((await ready(status.origin)).status, 200);
  },
);

testWithEnvoy("a rejected listener is named with Envoy's reason; a valid one makes it ready", async (proxy) => {
  await using status = await statusOf(proxy);
  const good = await Deno.readTextFile(`${proxy.folder}/lds.json`);
  await proxy.write("lds.json", { resources: [REFUSED] });
  const agent = proxy.launch("below PID 1");
  const problem = "config received from XDS server, but was rejected: " +
    "cds updates: 1 successful, 0 rejected; lds updates: 0 successful, 1 rejected";
  const text = await textWith(status.origin, /was rejected/);
  assert.ok(text.includes(`[-]config failed: ${problem}; listener "refused": error adding listener `), text);
  await proxy.write("lds.json", JSON.parse(good));
  await textWith(status.origin, /\nready\n$/);
  await agent.command("quit");
  await agent.code;
});

testWithEnvoy("an Envoy with only static configuration is never ready", async (proxy) => {
  await using status = await statusOf(proxy);
  await proxy.writeBootstrap({ dynamic_resources: {} });
  const agent = await proxy.start("below PID 1");
  const { text } = await ready(status.origin);
  assert.match(text, /config not received from XDS server .*cds updates: 0 successful, 0 rejected/);
  await agent.command("quit");
  await agent.code;
});
