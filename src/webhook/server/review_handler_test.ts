import assert from "node:assert/strict";
import { startLog } from "../../platform/log.ts";
import { realWorld } from "../../platform/mod.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import type { Reviewed } from "../review/review_pod.ts";
import { reviewHandler } from "./review_handler.ts";
import type { Client } from "../../platform/serving/http.ts";
import { webhookMetrics } from "./metrics.ts";

const ANSWER: Reviewed = {
  body: '{"response":{}}',
  result: "injected",
  reason: "policy-enabled",
  message: "the secret of the pod is {hunter2}",
  warnings: [],
  uid: "u-1",
  namespace: "shop",
  name: "web",
  dryRun: false,
};

function handler(answer: Partial<Reviewed> = {}, { milliseconds = 60_000, level = "info", reviews = 2 } = {}) {
  const world = fakeWorld();
  const metrics = webhookMetrics("1.2.3");
  const seen: { size: number; path: string }[] = [];
  const handle = reviewHandler({
    review: (body, path) => {
      seen.push({ size: body.length, path });
      return { ...ANSWER, ...answer };
    },
    limits: {
      ...{ bytes: 1000, milliseconds, smallMilliseconds: milliseconds, bytesInFlight: 1500 },
      ...{ bodies: 4, bodiesOfAddress: 2, reviews, answerBytes: 1000, answerMilliseconds: 50 },
    },
    metrics,
    log: startLog(world, "webhook", { level }),
    clock: realWorld().clock,
  });
  const post = async (init: RequestInit = {}, path = "/inject", client: Client = { remote: "10.0.0.1" }) => {
    const headers = { "content-type": "application/json" };
    const request = new Request(`http://a${path}`, { method: "POST", headers, body: "{}", ...init });
    const response = await handle(request, path, client);
    return { response, status: response.status, text: await response.text() };
  };
  return { post, seen, metrics, log: () => world.said.stderr };
}

/** A body of these pieces; with `isOpen` it never ends. */
function stream(pieces: readonly number[], isOpen = false): ReadableStream<Uint8Array> {
  const left = [...pieces];
  return new ReadableStream({
    pull(controller) {
      const size = left.shift();
      if (size !== undefined) return controller.enqueue(new Uint8Array(size));
      if (!isOpen) controller.close();
    },
  });
}

const json = (type: string) => ({ headers: { "content-type": type } });
const REFUSED: Readonly<Record<string, readonly [init: RequestInit, status: number, text: string]>> = {
  "another method": [{ method: "PUT" }, 405, "method not allowed, want POST\n"],
  "another type": [json("application/yaml"), 415, "invalid Content-Type, want `application/json`\n"],
  "no type": [{ headers: {} }, 415, "invalid Content-Type, want `application/json`\n"],
  "a compressed body": [
    { headers: { "content-type": "application/json", "content-encoding": "gzip" } },
    415,
    "invalid Content-Encoding, want none\n",
  ],
  "no body": [{ body: null }, 400, "no body found\n"],
  "an empty body": [{ body: "" }, 400, "no body found\n"],
  "a large body": [{ body: "x".repeat(1001) }, 413, "the body is too large\n"],
  "a large body without a content-length": [{ body: stream([900, 101]) }, 413, "the body is too large\n"],
  "a body without an end": [{ body: stream([900, 3101], true) }, 413, "the body is too large\n"],
};

for (const [name, [init, status, text]] of Object.entries(REFUSED)) {
  Deno.test(`a request with ${name} is refused with ${status}`, async () => {
    const { post, seen, metrics } = handler();
    const answer = await post(init);
    assert.deepEqual([answer.status, answer.text, seen], [status, text, []]);
    assert.equal(answer.response.headers.get("connection"), "close");
    assert.equal(answer.response.headers.get("allow"), status === 405 ? "POST" : null);
    assert.match(await metrics.text(), /^mesh_webhook_refused_requests_total\{reason="[a-z-]+"\} 1$/m);
  });
}

Deno.test("a body that does not arrive in time is refused with 408", async () => {
  const { post } = handler({}, { milliseconds: 20 });
  assert.equal((await post({ body: stream([10], true) })).status, 408);
});

Deno.test("a body that ends early is refused", async () => {
  const body = new ReadableStream({ start: (controller) => controller.error(new Error("reset")) });
  assert.equal((await handler().post({ body })).status, 400);
});

/** A client that reads its answer when `read` is called. */
function unread() {
  const { promise: sent, resolve: read } = Promise.withResolvers<void>();
  const seen = { arrived: 0, closed: 0 };
  const close = () => {
    seen.closed++;
    read();
  };
  const exchange = { sent, close, arrived: () => void seen.arrived++ };
  return { seen, read, client: { remote: "10.0.0.1", exchange } };
}

Deno.test("answers count until they are sent: too many are refused with 503, later ones are answered", async () => {
  const { post } = handler({}, { reviews: 1 });
  const one = unread();
  assert.equal((await post({}, "/inject", one.client)).status, 200);
  assert.equal(one.seen.arrived, 1);
  const busy = await post();
  assert.deepEqual([busy.status, busy.response.headers.get("retry-after")], [503, "1"]);
  one.read();
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal((await post()).status, 200);
});

Deno.test("the bytes of answers are limited", async () => {
  const { post } = handler({ body: "x".repeat(1001) }, { reviews: 9 });
  const one = unread();
  assert.equal((await post({}, "/inject", one.client)).status, 200);
  assert.equal((await post()).status, 503);
  one.read();
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal((await post()).status, 200);
});

Deno.test("the connection of a client that does not read its answer is closed", async () => {
  const { post } = handler({}, { reviews: 1 });
  const one = unread();
  await post({}, "/inject", one.client);
  await new Promise((resolve) => setTimeout(resolve, 80));
  assert.deepEqual([one.seen.closed, (await post()).status], [1, 200]);
});

Deno.test("a body that is not complete takes no place", async () => {
  const { post } = handler({}, { reviews: 1, milliseconds: 50 });
  const slow = post({ body: stream([10], true) });
  assert.equal((await post()).status, 200);
  assert.equal((await slow).status, 408);
});

Deno.test("of too many bodies of one address the oldest is given up", async () => {
  const { post } = handler({}, { milliseconds: 50 });
  const slow = [1, 2, 3].map(() => post({ body: stream([10], true) }));
  const other = post({ body: stream([10], true) }, "/inject", { remote: "10.0.0.2" });
  assert.deepEqual((await Promise.all([...slow, other])).map(({ status }) => status), [503, 408, 408, 408]);
});

Deno.test("of bodies that are too large together the largest is given up with 503, and frees its memory", async () => {
  const { post } = handler({}, { milliseconds: 50 });
  const slow = post({ body: stream([1000], true) });
  await new Promise((resolve) => setTimeout(resolve));
  assert.equal((await post({ body: stream([400, 200]) })).status, 200);
  assert.equal((await slow).status, 503);
  for (let time = 0; time < 3; time++) assert.equal((await post({ body: stream([1000]) })).status, 200);
});

Deno.test("the review gets bytes and path, and its answer is not compressed", async () => {
  const { post, seen } = handler();
  const { status, text, response } = await post({
    ...json("Application/JSON; charset=utf-8"),
    body: stream([600, 400]),
  }, "/inject/net/n1");
  assert.deepEqual([status, text, seen], [200, ANSWER.body, [{ size: 1000, path: "/inject/net/n1" }]]);
  assert.equal(response.headers.get("content-type"), "application/json");
  assert.match(response.headers.get("cache-control") ?? "", /no-transform/);
});

Deno.test("an unreadable review is answered in the body, as in Istio", async () => {
  const failed = { result: "failed", reason: "invalid-review" } as const;
  assert.equal((await handler({ ...failed, uid: "" }).post()).status, 200);
  assert.equal((await handler(failed).post()).status, 200);
});

Deno.test("results are counted by reason and time, also with Istio's names", async () => {
  const results = ["injected", "skipped", "unchanged", "failed"] as const;
  const { post, metrics } = handler();
  await post();
  for (const result of results) metrics.reviewed({ ...ANSWER, result, reason: "template-failed" }, 0.002);
  const text = await metrics.text();
  for (
    const line of [
      'mesh_webhook_reviews_total{result="injected",reason="policy-enabled"} 1',
      'mesh_webhook_reviews_total{result="failed",reason="template-failed"} 1',
      "sidecar_injection_requests_total 1",
      "sidecar_injection_success_total 3",
      "sidecar_injection_skip_total 1",
      "sidecar_injection_failure_total 1",
      "sidecar_injection_time_seconds_count 5",
      "mesh_webhook_template_errors_total 4",
      "mesh_webhook_reviews_under_way 0",
    ]
  ) assert.ok(text.split("\n").includes(line), `${line} in:\n${text}`);
});

Deno.test("the log has names and reasons; messages that may quote the pod only at debug", async () => {
  for (const level of ["info", "debug"]) {
    const { post, log } = handler({ result: "failed", reason: "template-failed", defect: "TypeError at x.ts:1:2" }, {
      level,
    });
    await post();
    assert.match(log(), /warning webhook: Review of pod "shop\/web" failed: template-failed\n/);
    assert.match(log(), /error webhook: Internal error: TypeError at /);
    assert.equal(log().includes("hunter2"), level === "debug");
  }
});
