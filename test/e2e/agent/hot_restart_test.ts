/** Hot restarts of a real Envoy under load. */
import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { needsPlace } from "./support/agent.ts";
import { startLoad } from "./support/load.ts";
import { envoy, Proxy } from "./support/proxy.ts";

function testWithProxy(name: string, body: (proxy: Proxy) => Promise<void>) {
  testWhen(needsPlace("below PID 1") ?? envoy.missing, `hot restart: ${name}`, async () => {
    await using proxy = await Proxy.make();
    await body(proxy);
  });
}

testWithProxy("SIGHUP and changed files start new epochs; no request fails", async (proxy) => {
  const watch = { paths: [`${proxy.folder}/bootstrap.json`], milliseconds: 50 };
  const agent = await proxy.start("below PID 1", {}, { watch });
  await using load = startLoad(proxy.ports.main);
  agent.signal("SIGHUP");
  await agent.until("Envoy (epoch 1) is live");
  // It waits: the previous epoch still drains.
  await proxy.writeBootstrap({ stats_flush_interval: "7s" });
  await agent.until("hot restart postponed");
  await agent.until("Envoy (epoch 2) is live");
  assert.match(agent.text, /Envoy \(epoch 0\) exited with code 0\n[^]*Envoy \(epoch 2\) started/);
  await agent.until("Envoy (epoch 1) exited with code 0");
  assert.deepEqual(await load.stop(), []);
  assert.ok(load.answered() > 100, `${load.answered()} requests were answered`);
  assert.equal(await servingEpoch(proxy), 2);
  agent.signal("SIGQUIT");
  assert.equal(await agent.code, 0, agent.text);
});

async function servingEpoch(proxy: Proxy): Promise<number> {
  const response = await fetch(`http://127.0.0.1:${proxy.ports.admin}/server_info`);
  return (await response.json()).command_line_options.restart_epoch;
}

testWithProxy("a rejected configuration starts no epoch; a fixed one does", async (proxy) => {
  const agent = await proxy.start("below PID 1");
  await proxy.writeBootstrap({ nonsense: 1 });
  agent.signal("SIGHUP");
  await agent.until(/Epoch 1 was not started, and Envoy keeps serving with its old configuration: .*nonsense/);
  assert.equal(await servingEpoch(proxy), 0);
  await proxy.writeBootstrap();
  agent.signal("SIGHUP");
  await agent.until("Envoy (epoch 1) is live");
  agent.signal("SIGQUIT");
  assert.equal(await agent.code, 0, agent.text);
});

testWithProxy("an epoch that fails at its start leaves the old one running", async (proxy) => {
  const agent = await proxy.start("below PID 1");
  await using load = startLoad(proxy.ports.main);
  // Validation does not bind: this address belongs to no machine.
  const address = { socket_address: { address: "192.0.2.1", port_value: 80 } };
  const echo = "type.googleapis.com/envoy.extensions.filters.network.echo.v3.Echo";
  const filters = [{ name: "echo", typed_config: { "@type": echo } }];
  const listener = { name: "nowhere", address, filter_chains: [{ filters }] };
  await proxy.writeBootstrap({ static_resources: { listeners: [listener] } });
  agent.signal("SIGHUP");
  await agent.until(/Envoy \(epoch 1\) exited with code 1 before it was live/);
  await proxy.writeBootstrap();
  agent.signal("SIGHUP");
  await agent.until(/(?:Hot restarts are no longer possible[^]*){2}/);
  assert.deepEqual(await load.stop(), []);
  agent.signal("SIGQUIT");
  assert.equal(await agent.code, 0, agent.text);
});

testWithProxy("a request to quit during a hot restart ends both epochs", async (proxy) => {
  const agent = await proxy.start("below PID 1", {
    drain: { duration: 100, exitOnZero: false, minimum: 0, maximum: 0 },
  });
  agent.signal("SIGHUP");
  await agent.until("Envoy (epoch 1) is live");
  agent.signal("SIGTERM");
  assert.equal(await agent.code, 0, agent.text);
  assert.match(agent.text, /Envoy \(epoch 0\) exited with code 0/);
  assert.match(agent.text, /Envoy \(epoch 1\) exited with code 0/);
});
