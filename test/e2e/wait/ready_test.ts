/** What counts as ready, and the messages if a proxy is not ready. */
import assert from "node:assert/strict";
import { MESH_COMMAND, runMesh } from "../../support/programs/mesh.ts";
import { freePort } from "../../support/ports.ts";
import { startMesh } from "./support/child.ts";
import { standIn } from "./support/server.ts";

const ONCE = ["wait", "--timeout", "0"];

Deno.test("wait ends with 0 and no output when the proxy is ready", async () => {
  await using proxy = standIn(() => 200);
  assert.deepEqual(await runMesh(["wait", "--url", proxy.url]), { code: 0, stdout: "", stderr: "" });
  assert.deepEqual(proxy.requests, ["GET /"]);
});

Deno.test("only status 200 after redirects is ready", async () => {
  await using proxy = standIn((path) => {
    if (path === "/moved") return Response.redirect(`${proxy.url}/200`);
    if (path === "/relative") return new Response(null, { status: 307, headers: { location: "moved" } });
    if (path === "/gone") return Response.redirect(`${proxy.url}/204`);
    if (path === "/round") return Response.redirect(`${proxy.url}/round`);
    return Number(path.slice(1));
  });
  const codes: Record<string, number> = {};
  for (const path of ["200", "moved", "relative", "201", "204", "404", "503", "gone", "round"]) {
    codes[path] = (await runMesh([...ONCE, "--url", `${proxy.url}/${path}`])).code;
  }
  assert.deepEqual(codes, { 200: 0, moved: 0, relative: 0, 201: 1, 204: 1, 404: 1, 503: 1, gone: 1, round: 1 });
});

Deno.test("wait polls until the proxy is ready, and logs that", async () => {
  const port = freePort();
  const waiting = startMesh(["wait", "--url", `http://127.0.0.1:${port}/`]);
  await waiting.warns("connection refused");
  let count = 0;
  await using proxy = standIn(() => ++count < 3 ? 503 : 200, { port });
  const { code, stderr } = await waiting.end();
  assert.equal(code, 0);
  assert.equal(proxy.requests.length, 3);
  assert.match(
    stderr,
    /Waiting for the proxy, at most 1m0s: .*: connection refused\n.* The proxy is ready after .*\n$/,
  );
});

Deno.test("all of several URLs must be ready", async () => {
  await using one = standIn(() => 200);
  await using two = standIn(() => 404);
  const { code, stderr } = await runMesh([...ONCE, "--url", one.url, "--url", two.url]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /^error: The proxy is not ready: \S+: answered 404; only status 200 means ready: check --url\n$/,
  );
  assert.ok(stderr.includes(two.url) && !stderr.includes(one.url));
});

Deno.test("a proxy that accepts the connection and does not answer is reported", async () => {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const url = `http://127.0.0.1:${listener.addr.port}/`;
  const { code, stderr } = await runMesh([...ONCE, "--request-timeout", "100ms", "--url", url]);
  assert.equal(code, 1);
  assert.match(
    stderr,
    /: no answer within 100ms; the proxy hangs or lacks CPU; a longer --request-timeout may help\n$/,
  );
});

// An address of loopback that nobody else uses, so that these ports are free.
const hostname = "127.84.21.7";

Deno.test("on a timeout the agent's reason is logged, whatever the proxy's port answers", async () => {
  const reason = (path: string, { url }: Request) =>
    path === "/healthz/ready" && url.endsWith("?verbose")
      ? new Response("cds updates: 0 successful", { status: 503 })
      : 404;
  await using agent = standIn(reason, { hostname, port: 15020 });
  const url = `http://${hostname}:15021/healthz/ready`;
  const said = (seen: string) =>
    `error: The proxy is not ready: ${url}: ${seen}, while its agent at port 15020 says: cds updates: 0 successful; ` +
    "see the log of the proxy's container\n";
  assert.equal((await runMesh([...ONCE, "--url", url])).stderr, said("connection refused"));
  await using _proxy = standIn(() => 503, { hostname, port: 15021 });
  assert.equal((await runMesh([...ONCE, "--url", url])).stderr, said("answered 503"));
  assert.deepEqual(agent.requests, Array(2).fill("GET /healthz/ready?verbose"));
});

Deno.test("proxy variables of the environment are ignored", async () => {
  await using proxy = standIn(() => 200);
  const env = { HTTP_PROXY: `http://127.0.0.1:${freePort()}`, http_proxy: `http://127.0.0.1:${freePort()}` };
  assert.equal((await runMesh([...ONCE, "--url", proxy.url], { env })).code, 0);
});

Deno.test("with JSON logs every line is JSON", async () => {
  const args = ["wait", "--timeout", "150ms", "--url", `http://127.0.0.1:${freePort()}/`];
  const { code, stdout, stderr } = await runMesh(args, { env: { MESH_LOG_FORMAT: "json" } });
  assert.deepEqual([code, stdout], [1, ""]);
  assert.deepEqual(stderr.trim().split("\n").map((line) => JSON.parse(line).level), ["INFO", "FATAL"]);
});

Deno.test("pilot-agent wait has its own messages and exit code", async () => {
  await using proxy = standIn(() => 200);
  const ready = await runMesh(["pilot-agent", "wait", "--url", proxy.url, "--periodMillis=100"]);
  assert.equal(ready.code, 0);
  assert.match(
    ready.stdout,
    /^\S+\tinfo\tWaiting for Envoy proxy to be ready \(timeout: 60 seconds\)\.\.\.\n\S+\tinfo\tEnvoy is ready!\n$/,
  );
  const late = await runMesh([
    "pilot-agent",
    "wait",
    "--url",
    `http://127.0.0.1:${freePort()}/`,
    "--timeoutSeconds",
    "1",
  ]);
  assert.equal(late.code, 255);
  assert.match(
    late.stderr,
    /^Error: Timeout waiting for Envoy proxy to become ready\. Last error: .*connection refused/,
  );
});

Deno.test("a closed log does not end wait", async () => {
  await using proxy = standIn(() => 200);
  const lines = [
    `{ sleep 0.2; "$MESH" pilot-agent wait --url "$URL"; echo "code $?" >&2; } | true`,
    `"$MESH" wait --log-level debug --url "$URL" 2>&-; echo "code $?" >&2`,
    `"$MESH" wait --log-level debug --url "$URL" 2>/dev/full; echo "code $?" >&2`,
  ];
  for (const line of lines) {
    const env = { MESH: MESH_COMMAND, URL: proxy.url };
    const { stderr } = await new Deno.Command("sh", { args: ["-c", line], env, stdin: "null" }).output();
    assert.equal(new TextDecoder().decode(stderr), "code 0\n");
  }
});
