import assert from "node:assert/strict";
import { startLog } from "../log.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { READING, router } from "./http.ts";

function fails(): Response {
  throw new TypeError("a {defect}");
}

/** A router, and the world that its log speaks to. */
function started() {
  const world = fakeWorld();
  const route = router([
    { path: "/inject/", answer: (_request, path) => new Response(path) },
    { path: "/ready", methods: READING, answer: () => new Response("ready") },
    { path: "/defect", answer: fails },
  ], startLog(world, "webhook"));
  return { route, world };
}

const CASES: readonly (readonly [method: string, url: string, status: number, text: string])[] = [
  ["POST", "https://a:1/inject/cluster/c%2F1?timeout=10s", 200, "/inject/cluster/c%2F1"],
  ["GET", "https://[::1]:1/ready?verbose", 200, "ready"],
  ["POST", "https://a/ready", 405, "method not allowed\n"],
  ["GET", "https://a/ready/", 404, "404 page not found\n"],
  ["GET", "https://a/inject", 404, "404 page not found\n"],
  ["GET", "https://a", 404, "404 page not found\n"],
  ["GET", "https://a/defect", 500, "internal error\n"],
];

for (const [method, url, status, text] of CASES) {
  Deno.test(`router(): ${method} ${url}`, async () => {
    const response = await started().route(new Request(url, { method }), "");
    assert.deepEqual([response.status, await response.text()], [status, text]);
  });
}

Deno.test("router(): an invalid Host gets 400 and no log line", async () => {
  const { route, world } = started();
  const request = new Request("https://a/ready");
  Object.defineProperty(request, "url", { value: "https://a b:x/ready" });
  const response = await route(request, "");
  assert.deepEqual([response.status, world.said.stderr], [400, ""]);
});

Deno.test("router(): a failure is logged", async () => {
  const { route, world } = started();
  await route(new Request("https://a/defect"), "");
  assert.match(world.said.stderr, /error webhook: Cannot answer GET "\/defect": a \{defect\}\n/);
});
