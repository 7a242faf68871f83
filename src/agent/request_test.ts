import assert from "node:assert/strict";
import { ClosedPipeError } from "../base/errors.ts";
import { fakeWorld, type FakeWorldOptions } from "../../test/support/fake_world.ts";
import { messageAgent, type ProxyRequest, runRequest } from "./request.ts";

const GET: ProxyRequest = { method: "GET", path: "stats", body: "", port: 15000 };

async function asked(request: Partial<ProxyRequest>, answer: () => Response, more: FakeWorldOptions = {}) {
  const requests: string[] = [];
  const world = fakeWorld({
    ...more,
    request(url, init) {
      requests.push(`${init?.method} ${url} ${init?.body ?? "-"}`);
      return answer();
    },
  });
  return { code: await runRequest(world, { ...GET, ...request }), requests, stdout: world.said.stdout };
}

Deno.test("runRequest() prints the body and a line end", async () => {
  assert.deepEqual(await asked({}, () => new Response("a: 1\nb: 2\n")), {
    code: 0,
    requests: ["GET http://localhost:15000/stats -"],
    stdout: "a: 1\nb: 2\n\n",
  });
});

Deno.test("runRequest() accepts a leading slash and sends a body", async () => {
  const { requests } = await asked(
    { method: "POST", path: "//drain?x=1", body: "a b", port: 15020 },
    () => new Response(),
  );
  assert.deepEqual(requests, ["POST http://localhost:15020//drain?x=1 a b"]);
});

Deno.test("runRequest() accepts 404, as pilot-agent does, and reports other failures with their body", async () => {
  assert.deepEqual((await asked({}, () => new Response("no such path", { status: 404 }))).stdout, "no such path\n");
  await assert.rejects(asked({}, () => new Response("Method Not Allowed\n", { status: 405 })), {
    message: "Received unsuccessful status code 405: Method Not Allowed",
  });
  await assert.rejects(asked({}, () => new Response(null, { status: 503 })), {
    message: "Received unsuccessful status code 503: no body",
  });
});

Deno.test("runRequest() names the URL it could not reach, also during a response", async () => {
  await assert.rejects(runRequest(fakeWorld(), GET), {
    message: 'Cannot send a request to "http://localhost:15000/stats": connection refused',
    hint: "check that the proxy is running in this pod",
  });
  const broken = () => new Response(new ReadableStream({ pull: (it) => it.error(new TypeError("connection reset")) }));
  await assert.rejects(asked({}, broken), {
    message: 'Cannot send a request to "http://localhost:15000/stats": connection reset',
  });
});

Deno.test("runRequest() leaves a closed stdout to its caller", async () => {
  await assert.rejects(asked({}, () => new Response("long"), { stdoutClosesAfter: 2 }), ClosedPipeError);
});

const QUIT = { path: "quitquitquit", port: 15020, timeout: 100 };

Deno.test("messageAgent() sends a POST and accepts any 2xx", async () => {
  const posts: string[] = [];
  const world = fakeWorld({
    request(url, init) {
      posts.push(`${init?.method} ${url}`);
      return new Response(null, { status: 204 });
    },
  });
  assert.equal(await messageAgent(world, QUIT), 0);
  assert.deepEqual([posts, world.said], [["POST http://localhost:15020/quitquitquit"], { stdout: "", stderr: "" }]);
});

Deno.test("messageAgent() reports failures with a hint", async () => {
  await assert.rejects(messageAgent(fakeWorld(), QUIT), {
    message: 'Cannot send "POST http://localhost:15020/quitquitquit" to the agent: connection refused',
    hint: "check that an agent is running in this pod with this --status-port",
  });
  const answering = (status: number) => fakeWorld({ request: () => new Response(null, { status }) });
  await assert.rejects(messageAgent(answering(404), QUIT), {
    message: 'The agent rejected "POST http://localhost:15020/quitquitquit" with status 404',
    hint: "an older agent or another program listens on that port",
  });
  await assert.rejects(messageAgent(answering(403), QUIT), { hint: "see the log of the agent" });
});
