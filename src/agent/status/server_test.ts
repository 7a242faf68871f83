import assert from "node:assert/strict";
import { adminInterface, serve, statusServer } from "../../../test/support/agent/status.ts";

const READY = {
  "cluster_manager.cds.update_success": 1,
  "listener_manager.lds.update_success": 1,
  "server.state": 0,
  "listener_manager.workers_started": 1,
};

async function ask(url: string, init: RequestInit = {}) {
  const response = await fetch(url, init);
  return { status: response.status, text: await response.text(), headers: response.headers };
}

function envoyAt(adminPort: number, metricsPort?: number) {
  return { adminHost: "127.0.0.1", adminPort, metricsPort } as const;
}

Deno.test("readiness: 503 with a warning until all stages pass, then 200 for Envoy's life", async () => {
  const stats: Record<string, number> = {};
  const admin = adminInterface(stats);
  await using status = await statusServer({ envoy: envoyAt(admin.port) });
  const ready = `${status.origin}/healthz/ready`;
  const missing = await ask(ready);
  assert.deepEqual([missing.status, missing.text], [503, ""]);
  assert.match(
    status.log(),
    /warning agent: Envoy proxy is NOT ready: config not received from XDS server .*stage: config/,
  );
  Object.assign(stats, READY);
  const passed = await ask(ready, { method: "POST" });
  assert.deepEqual([passed.status, passed.text], [200, ""]);
  assert.match(status.log(), /info agent: Readiness succeeded in \d+\.\d+s\n.*info agent: Envoy proxy is ready\n/);
  await admin[Symbol.asyncDispose]();
  assert.equal((await ask(ready)).status, 200);
  assert.equal(
    (await ask(`${status.origin}/metrics`)).text.match(/^istio_agent_startup_duration_seconds \d/m)?.length,
    1,
  );
  status.server.forgetReadiness();
  assert.equal((await ask(ready)).status, 503);
});

Deno.test("readiness: ?verbose names the stages", async () => {
  const stats: Record<string, number> = { ...READY, "server.state": 3 };
  await using admin = adminInterface(stats);
  await using status = await statusServer({ envoy: envoyAt(admin.port) });
  const { status: code, text } = await ask(`${status.origin}/healthz/ready?verbose`);
  assert.equal(code, 503);
  assert.equal(
    text,
    "[+]admin ok: Envoy's admin interface responds\n" +
      "[+]config ok: Envoy has its clusters and listeners\n" +
      "[+]running ok: the agent is not shutting down\n" +
      "[-]server failed: server is not live, current state is: INITIALIZING\n" +
      "not ready\n",
  );
  stats["server.state"] = 0;
  assert.match(
    (await ask(`${status.origin}/healthz/ready?verbose`)).text,
    /workers ok: .*\n.*names ok: .*\n.*grpc ok: .*\nready\n$/,
  );
});

Deno.test("readiness: an agent that shuts down is not ready but answers; the same warning is not repeated at once", async () => {
  let cause: string | undefined;
  await using admin = adminInterface(READY);
  await using status = await statusServer({ envoy: envoyAt(admin.port), terminating: () => cause });
  const ready = `${status.origin}/healthz/ready`;
  assert.equal((await ask(ready)).status, 200);
  cause = "received signal: terminated";
  for (let time = 0; time < 3; time++) assert.equal((await ask(ready)).status, 503);
  assert.equal(status.log().match(/server is terminated: received signal: terminated/g)?.length, 1);
  cause = undefined;
  await ask(ready);
  assert.equal(status.log().match(/Envoy proxy is ready/g)?.length, 2);
  assert.equal(status.log().match(/Readiness succeeded/g)?.length, 1);
});

Deno.test("without Envoy the agent is ready unless it shuts down", async () => {
  await using status = await statusServer();
  assert.equal((await ask(`${status.origin}/healthz/ready`)).status, 200);
  await using ending = await statusServer({ terminating: () => "asked to" });
  const { status: code, text } = await ask(`${ending.origin}/healthz/ready?verbose`);
  assert.deepEqual([code, text], [503, "[-]running failed: server is terminated: asked to\nnot ready\n"]);
});

for (const path of ["/quitquitquit", "/drain"]) {
  Deno.test(`${path} accepts a local POST, acts after its answer, and refuses other methods`, async () => {
    const done = Promise.withResolvers<string>();
    const done2 = { onQuit: () => done.resolve("/quitquitquit"), onDrain: () => done.resolve("/drain") };
    await using status = await statusServer(done2);
    const wrong = await ask(status.origin + path);
    assert.deepEqual([wrong.status, wrong.text], [405, "Method Not Allowed\n"]);
    const { status: code, text } = await ask(`http://[::1]:${status.server.port}${path}`, { method: "POST" });
    assert.deepEqual([code, text], [200, "OK"]);
    assert.equal(await done.promise, path);
  });
}

Deno.test("remote clients get 403 from /quitquitquit and /drain with any method, and from local metrics", async () => {
  const other = Deno.networkInterfaces().find(({ family, address }) =>
    family === "IPv4" && !address.startsWith("127.")
  );
  // An interface's own address reaches this machine, with itself as the source.
  const host = other?.address ?? "127.0.0.1";
  await using status = await statusServer({ areMetricsLocal: true });
  const expected = other === undefined ? [405, 200] : [403, 403];
  for (const path of ["/quitquitquit", "/drain"]) {
    assert.equal((await ask(`http://${host}:${status.server.port}${path}`)).status, expected[0]);
  }
  const scraped = await ask(`http://${host}:${status.server.port}/metrics`);
  assert.equal(scraped.status, expected[1]);
  if (scraped.status === 403) assert.equal(scraped.text, "Only requests from localhost are allowed\n");
  assert.equal((await ask(`${status.origin}/stats/prometheus`)).status, 200);
  assert.equal((await ask(`http://${host}:${status.server.port}/healthz/ready`)).status, 200);
});

Deno.test("other paths are 404; HEAD has no body; an invalid Host is harmless", async () => {
  await using status = await statusServer();
  const missing = await ask(`${status.origin}/nothing/here?x`);
  assert.deepEqual([missing.status, missing.text], [404, "404 page not found\n"]);
  assert.equal(missing.headers.get("content-type"), "text/plain; charset=utf-8");
  const head = await ask(`${status.origin}/metrics`, { method: "HEAD" });
  assert.deepEqual([head.status, head.text], [200, ""]);
  using connection = await Deno.connect({ hostname: "127.0.0.1", port: status.server.port ?? 0 });
  const request = "GET /healthz/ready?verbose HTTP/1.1\r\nHost: a b<>\r\nConnection: close\r\n\r\n";
  await connection.write(new TextEncoder().encode(request));
  const answer = await new Response(connection.readable).text();
  assert.match(answer, /^HTTP\/1\.1 (200|400) /);
});

Deno.test("a port in use is logged, and the agent continues", async () => {
  await using other = serve(() => new Response());
  await using status = await statusServer({ port: other.addr.port });
  assert.equal(status.server.port, undefined);
  assert.match(
    status.log(),
    /error agent: Error listening on status port: .*the agent continues without the status server/,
  );
});

Deno.test("both families are served", async () => {
  await using status = await statusServer();
  for (const host of ["127.0.0.1", "[::1]"]) {
    assert.equal((await ask(`http://${host}:${status.server.port}/healthz/ready`)).status, 200);
  }
});
