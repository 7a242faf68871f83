/** Shutdown of a real Envoy with requests in flight. */
import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { needsPlace, type Place } from "./support/agent.ts";
import { envoy, Proxy, RULES } from "./support/proxy.ts";

function testWithProxy(name: string, body: (proxy: Proxy) => Promise<void>, place: Place = "below PID 1") {
  testWhen(needsPlace(place) ?? envoy.missing, `drain: ${name}`, async () => {
    await using proxy = await Proxy.make();
    await body(proxy);
  });
}

/** One request on a new connection. */
async function get(url: string, path = "/"): Promise<string> {
  const client = Deno.createHttpClient({ poolMaxIdlePerHost: 0 });
  try {
    const response = await fetch(url + path, { client });
    return `${response.status} ${response.headers.get("connection") ?? ""} ${await response.text()}`;
  } finally {
    client.close();
  }
}

for (const place of ["as PID 1", "below PID 1"] as const) {
  testWithProxy(
    `${place}, SIGTERM lets a long request finish, and new requests are answered meanwhile`,
    async (proxy) => {
      const agent = await proxy.start(place, { drain: { ...RULES.drain, duration: 1000 } });
      const long = get(proxy.url, "/wait");
      await proxy.held(1);
      agent.signal("SIGTERM");
      await agent.until("phase draining");
      await until(async () => (await get(proxy.url)).includes("close"));
      proxy.release();
      assert.equal(await long, "200 close application\n");
      assert.equal(await agent.code, 0, agent.text);
      assert.match(agent.text, /The drain time is over: sending SIGTERM to Envoy\n[^]*exited with code 0/);
    },
    place,
  );
}

testWithProxy("a second SIGTERM, or SIGQUIT, ends the drain immediately", async (proxy) => {
  for (const again of ["SIGTERM", "SIGINT", "SIGQUIT"] as const) {
    const agent = await proxy.start("below PID 1");
    const long = assert.rejects(get(proxy.url, "/wait"));
    await proxy.held(1);
    agent.signal("SIGTERM");
    await agent.until("phase draining");
    agent.signal(again);
    assert.equal(await agent.code, 0, agent.text);
    await long;
    proxy.release();
  }
});

testWithProxy("a request to quit aborts requests in flight", async (proxy) => {
  const agent = await proxy.start("below PID 1");
  const long = assert.rejects(get(proxy.url, "/wait"));
  await proxy.held(1);
  await agent.command("quit");
  assert.equal(await agent.code, 0, agent.text);
  await long;
});

testWithProxy("after SIGTERM an endless drain ends with the requests in flight", async (proxy) => {
  const agent = await proxy.start("below PID 1");
  const long = get(proxy.url, "/wait");
  await proxy.held(1);
  await agent.command("drain");
  await agent.until("phase drained");
  // Listeners stay open: other containers of the pod still work.
  await until(async () => (await get(proxy.url)).includes("close"));
  agent.signal("SIGTERM");
  await agent.until("Envoy has 1 active requests");
  proxy.release();
  assert.equal(await long, "200 close application\n");
  assert.equal(await agent.code, 0, agent.text);
  assert.match(agent.text, /No requests are left: sending SIGTERM to Envoy/);
});

testWithProxy(
  "the drain ends with the last connection; connections to its own ports do not count, on IPv6 too",
  async (proxy) => {
    const agent = await proxy.start("below PID 1", { drain: { ...RULES.drain, exitOnZero: true } });
    using own = await Deno.connect({ hostname: "::1", port: proxy.ports.own });
    const client = await Deno.connect({ hostname: "::1", port: proxy.ports.six });
    await proxy.accepted(proxy.ports.six);
    agent.signal("SIGTERM");
    await agent.until("Envoy has 1 active connections");
    client.close();
    assert.equal(await agent.code, 0, agent.text);
    assert.match(agent.text, /No connections are left/);
    assert.equal(await own.read(new Uint8Array(1)), null);
  },
);

testWithProxy("the drain waits only for a limited time for connections", async (proxy) => {
  const agent = await proxy.start("below PID 1", { drain: { ...RULES.drain, exitOnZero: true, maximum: 300 } });
  using _client = await Deno.connect({ hostname: "::1", port: proxy.ports.six });
  await proxy.accepted(proxy.ports.six);
  agent.signal("SIGTERM");
  assert.equal(await agent.code, 0, agent.text);
  assert.match(agent.text, /The drain time is over/);
});

testWithProxy("a killed Envoy and an invalid configuration give the exit code", async (proxy) => {
  const agent = await proxy.start("below PID 1");
  Deno.kill(await agent.envoyPid(), "SIGKILL");
  assert.equal(await agent.code, 137, agent.text);
  assert.match(agent.text, /was terminated by SIGKILL/);
  await proxy.writeBootstrap({ nonsense: 1 });
  const bad = proxy.launch("below PID 1");
  assert.equal(await bad.code, 1, bad.text);
  assert.match(bad.text, /field:\s+'nonsense'[^]*Envoy \(epoch 0\) exited with code 1/);
});

testWithProxy("an Envoy that dies while it drains ends the agent", async (proxy) => {
  const agent = await proxy.start("below PID 1");
  agent.signal("SIGTERM");
  await agent.until("phase draining");
  Deno.kill(await agent.envoyPid(), "SIGSEGV");
  assert.equal(await agent.code, 0, agent.text);
});

testWithProxy("SIGUSR1 makes Envoy reopen its access log", async (proxy) => {
  const [path, moved] = [`${proxy.folder}/access.log`, `${proxy.folder}/access.log.1`];
  const log = { "@type": "type.googleapis.com/envoy.extensions.access_loggers.file.v3.FileAccessLog", path };
  await proxy.writeBootstrap({
    admin: {
      access_log: [{ name: "file", typed_config: log }],
      address: { socket_address: { address: "127.0.0.1", port_value: proxy.ports.admin } },
    },
  });
  const agent = await proxy.start("below PID 1");
  await Deno.rename(path, moved);
  agent.signal("SIGUSR1");
  await until(async () => {
    await get(`http://127.0.0.1:${proxy.ports.admin}`, "/ready");
    return await isThere(path);
  });
  await get(`http://127.0.0.1:${proxy.ports.admin}`, "/ready");
  agent.signal("SIGQUIT");
  assert.equal(await agent.code, 0, agent.text);
  assert.match(await Deno.readTextFile(path), /GET \/ready/);
});

async function isThere(path: string): Promise<boolean> {
  return await Deno.stat(path).then(() => true, () => false);
}
