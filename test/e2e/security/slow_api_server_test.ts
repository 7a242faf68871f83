/** An API server that is slow, stalls, is overloaded or sends an endless answer, for commands that read a cluster. */
import assert from "node:assert/strict";
import { runMesh } from "../../support/programs/mesh.ts";
import { startServing } from "../support/webhook.ts";
import { type Answer, serveApi } from "./support/api_server.ts";

const encoder = new TextEncoder();

/** A list that never closes, as single bytes, one each millisecond. */
function byteByByte(ended: AbortSignal): Response {
  return json(pulled(ended, 1, () => encoder.encode(" ")));
}

/** Half of a list, and nothing more. */
function stalling(ended: AbortSignal): Response {
  let isFirst = true;
  return json(pulled(ended, 60_000, () => encoder.encode('{"kind":"ConfigMapList","items":[{"metadata":'), () => {
    const starts = isFirst;
    isFirst = false;
    return starts;
  }));
}

/** Spaces without a pause, many more than an answer may have. */
function endless(ended: AbortSignal): Response {
  const piece = new Uint8Array(1024 * 1024).fill(0x20);
  return json(pulled(ended, 0, () => piece));
}

/** A stream of pieces with a pause before each, unless `atOnce` returns true. */
function pulled(
  ended: AbortSignal,
  pause: number,
  next: () => Uint8Array<ArrayBuffer>,
  atOnce = () => false,
): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      if (pause > 0 && !atOnce()) await passed(pause, ended);
      if (ended.aborted) return controller.close();
      controller.enqueue(next());
    },
  });
}

function passed(milliseconds: number, ended: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, milliseconds);
    ended.addEventListener("abort", () => {
      clearTimeout(timer);
      resolve();
    });
  });
}

function json(body: BodyInit): Response {
  return new Response(body, { headers: { "content-type": "application/json" } });
}

/** The expected errors for each server. A command without a timeout would exceed the limit of the test. */
const SERVERS: Readonly<Record<string, { readonly answer: Answer; readonly says: RegExp }>> = {
  "never answers": {
    answer: async (_, ended) => {
      await passed(60_000, ended);
      return new Response("");
    },
    says: /no answer within 1s/,
  },
  "sends single bytes without an end": { answer: (_, ended) => byteByByte(ended), says: /no answer within 1s/ },
  "stalls in the middle of a list": { answer: (_, ended) => stalling(ended), says: /no answer within 1s/ },
  "sends an answer without an end": {
    answer: (_, ended) => endless(ended),
    says: /is longer than \d+ bytes|no answer within 1s/,
  },
  "is overloaded for an hour": {
    answer: () => new Response("busy", { status: 429, headers: { "retry-after": "3600" } }),
    says: /429|no answer within 1s/,
  },
  "is not available": { answer: () => new Response("no endpoints", { status: 503 }), says: /503|no endpoints/ },
  "answers with a page of HTML": { answer: () => new Response("<html>"), says: /is not valid JSON/ },
};

const CLUSTER = ["--request-timeout=1s", "--kubeconfig"];

for (const [title, { answer, says }] of Object.entries(SERVERS)) {
  Deno.test(`inject and check end with an error where the API server ${title}`, async () => {
    await using served = await serveApi(answer);
    const inject = ["inject", "-f", "examples/helloworld.yaml", "--from-cluster", ...CLUSTER, served.kubeconfig];
    const injected = await runMesh(inject);
    assert.deepEqual([injected.code, injected.stdout], [1, ""], injected.stderr);
    assert.match(injected.stderr, says);
    assert.doesNotMatch(injected.stderr, /Unexpected failure|please report/);
    const checked = await runMesh(["check", ...CLUSTER, served.kubeconfig]);
    assert.notEqual(checked.code, 0);
    assert.match((checked.stdout + checked.stderr).replaceAll(/\s+/g, " "), says);
    assert.doesNotMatch(checked.stderr, /Unexpected failure|please report/);
  });
}

Deno.test("webhook serve waits for a slow API server, and is live meanwhile", async () => {
  const asked = new Set<string>();
  await using served = await serveApi((request, ended) => {
    asked.add(new URL(request.url).pathname);
    const [, { answer } = { answer: () => byteByByte(ended) }] = Object.entries(SERVERS)[asked.size % 3] ?? [];
    return answer(request, ended);
  });
  const flags = ["--self-managed-certs", "--from-cluster", "--request-timeout=1s", `--kubeconfig=${served.kubeconfig}`];
  const webhook = await startServing([...flags, "--log-level=debug"], /probes and metrics on port (?<plain>\d+)/);
  try {
    await webhook.logged(/Cannot read the configuration yet, trying again: .*no answer within 1s/);
    const healthy = await fetch(`http://127.0.0.1:${webhook.plainPort}/healthz`);
    assert.equal(healthy.status, 200);
    await healthy.body?.cancel();
    const ready = await fetch(`http://127.0.0.1:${webhook.plainPort}/ready?verbose`);
    assert.equal(ready.status, 503);
    assert.match(await ready.text(), /no answer within 1s/);
  } finally {
    assert.equal(await webhook.stop(), 143, webhook.log());
  }
});
