import assert from "node:assert/strict";
import { serve, statusServer } from "../../../test/support/agent/status.ts";

const OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8";
const TEXT = "text/plain; version=0.0.4; charset=utf-8";

/** What an endpoint answers: a text, an answer, or nothing at all. */
type Endpoint = string | ((request: Request) => Response | Promise<Response>);

function endpoint(answer: Endpoint) {
  return serve((request) => typeof answer === "string" ? new Response(answer) : answer(request));
}

function openMetrics(text: string): Endpoint {
  return () => new Response(text, { headers: { "content-type": OPEN_METRICS } });
}

const failing: Endpoint = () => new Response("no", { status: 500 });

/** A status server before an Envoy and applications, and a function that scrapes it. */
async function merging(envoy: Endpoint | undefined, ...applications: Endpoint[]) {
  const servers = [envoy ?? "", ...applications].map(endpoint);
  const [first, ...others] = servers;
  const metricsPort = envoy === undefined ? undefined : first?.addr.port;
  const scrapeTargets = others.map(({ addr }) => ({ port: addr.port, path: "/metrics" }));
  const status = await statusServer({ envoy: { adminHost: "127.0.0.1", adminPort: 1, metricsPort }, scrapeTargets });
  return {
    ...status,
    async scrape(headers: HeadersInit = {}, query = "") {
      const response = await fetch(`${status.origin}/stats/prometheus${query}`, { headers });
      const text = await response.text();
      return { status: response.status, type: response.headers.get("content-type"), text, rest: withoutAgent(text) };
    },
    async [Symbol.asyncDispose]() {
      await status.server.close();
      await Promise.all(servers.map((server) => server.shutdown()));
    },
  };
}

/** What follows the agent's own metrics. */
function withoutAgent(text: string): string {
  return text.replace(/^(.* ?istio_agent_.*\n)+/, "");
}

function failures(text: string, part: string): number {
  return Number(new RegExp(`^istio_agent_scrape_failures_total{type="${part}"} (\\d+)$`, "m").exec(text)?.[1] ?? 0);
}

const A = "# TYPE a counter\na{} 0\n";
const B = "# TYPE b counter\nb{} 0\n";

/** Istio's TestStats and TestStatsMultiTarget. */
const MERGED: readonly {
  readonly name: string;
  readonly envoy?: Endpoint;
  readonly applications?: readonly Endpoint[];
  readonly text: string;
  readonly type?: string;
  readonly failed?: number;
}[] = [
  { name: "Envoy alone", envoy: A, text: A },
  { name: "the application alone", applications: [A], text: A },
  { name: "both, Envoy first", envoy: A, applications: [B], text: A + B },
  { name: "the same name twice is kept twice", envoy: A, applications: [A], text: A + A },
  { name: "neither", envoy: "", applications: [""], text: "" },
  {
    name: "a text without a last line feed gets one before the next",
    envoy: "a 1",
    applications: ["b 2"],
    text: "a 1\nb 2",
  },
  {
    name: "OpenMetrics of the application keep their end",
    envoy: A,
    applications: [openMetrics(`${B}# EOF\n`)],
    text: `${A}${B}# EOF\n`,
    type: OPEN_METRICS,
  },
  { name: "Envoy fails", envoy: failing, applications: [B], text: B },
  { name: "the application fails", envoy: A, applications: [failing], text: A, failed: 1 },
  { name: "two texts", envoy: "", applications: [A, B], text: A + B },
  { name: "texts in the order of targets, however long they take", applications: [slow(A), B, A], text: A + B + A },
  {
    name: "two of OpenMetrics end once",
    applications: [openMetrics(`${A}# EOF\n`), openMetrics(`${B}# EOF\r\n`)],
    text: `${A}${B}# EOF\n`,
    type: OPEN_METRICS,
  },
  { name: "one of two fails", envoy: B, applications: [A, failing], text: B + A, failed: 1 },
  { name: "all fail", envoy: A, applications: [failing, failing], text: A, failed: 2 },
  {
    name: "the first of two fails: the format is the second's",
    applications: [failing, openMetrics(`${B}# EOF\n`)],
    text: `${B}# EOF\n`,
    type: OPEN_METRICS,
    failed: 1,
  },
  { name: "text, then OpenMetrics: text, no end", applications: [A, openMetrics(`${B}# EOF\n`)], text: A + B },
  {
    name: "OpenMetrics, then text: text, no end",
    applications: [openMetrics(`${A}# EOF\n`), "b 2"],
    text: `${A}b 2\n`,
  },
];

function slow(text: string): Endpoint {
  return async () => {
    await new Promise((resolve) => setTimeout(resolve, 200));
    return new Response(text);
  };
}

for (const { name, envoy, applications = [], text, type = TEXT, failed = 0 } of MERGED) {
  Deno.test(`merged metrics: ${name}`, async () => {
    await using merge = await merging(envoy, ...applications);
    const first = await merge.scrape();
    assert.deepEqual([first.status, first.type, first.rest], [200, type, text]);
    const second = await merge.scrape();
    assert.match(second.text, /^istio_agent_scrapes_total 2$/m);
    // Failures to begin are counted before the agent's own metrics are written.
    assert.equal(failures(second.text, "application"), failed * 2);
    assert.equal(failures(second.text, "envoy"), envoy === failing ? 2 : 0);
  });
}

Deno.test("merged metrics: a redirect is followed within the same host and port, and nowhere else", async () => {
  let asked = 0;
  await using other = endpoint(() => (asked++, new Response(B)));
  const redirects = (to: string): Endpoint => ({ url }) => {
    return url.endsWith("/") ? new Response(A) : new Response(null, { status: 302, headers: { location: to } });
  };
  await using merge = await merging(undefined, redirects("/metrics/"));
  assert.equal((await merge.scrape()).rest, A);
  const { port } = other.addr;
  for (
    const to of [
      `http://127.0.0.1:${port}/`,
      `//127.0.0.1:${port}/`,
      `http://localhost:${port}/`,
      "/metrics",
      "file:///etc/passwd",
    ]
  ) {
    await using hostile = await merging(redirects(to), redirects(to));
    assert.equal((await hostile.scrape()).rest, "", to);
    const { text } = await hostile.scrape();
    assert.deepEqual([failures(text, "application"), failures(text, "envoy")], [2, 2], to);
  }
  assert.equal(asked, 0);
});

Deno.test("merged metrics: one of several responses that is too large is left out and counted", async () => {
  const large = `${"a".repeat(1023)}\n`.repeat(10 * 1024 + 1);
  await using merge = await merging(undefined, large, B);
  assert.equal((await merge.scrape()).rest, B);
  assert.equal(failures((await merge.scrape()).text, "application"), 1);
});

Deno.test("merged metrics: endpoints get query, User-Agent, timeout and a text Accept header", async () => {
  const asked: { url: string; headers: Headers }[] = [];
  const note: Endpoint = ({ url, headers }) => {
    asked.push({ url, headers: new Headers(headers) });
    return new Response("");
  };
  await using merge = await merging(note, note);
  const accept = "application/vnd.google.protobuf;q=0.9,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1";
  const client = { "user-agent": "Prometheus/3", "x-prometheus-scrape-timeout-seconds": "9.5", "x-other": "1" };
  await merge.scrape({ accept, ...client }, "?usedonly&filter=a%20b");
  asked.sort((a, b) => a.url.includes("/stats/") && !b.url.includes("/stats/") ? -1 : 1);
  const [envoy, application] = asked;
  assert.equal(
    new URL(envoy?.url ?? "").pathname + new URL(envoy?.url ?? "").search,
    "/stats/prometheus?usedonly&filter=a%20b",
  );
  assert.equal(new URL(application?.url ?? "").pathname, "/metrics");
  for (const { headers } of asked) {
    assert.equal(headers.get("user-agent"), "Prometheus/3");
    assert.equal(headers.get("x-prometheus-scrape-timeout-seconds"), "9.5");
    assert.equal(headers.get("x-other"), null);
    assert.equal(headers.get("accept-encoding"), "identity");
  }
  assert.equal(envoy?.headers.get("accept"), "text/plain;version=0.0.4;q=0.1");
  assert.equal(
    application?.headers.get("accept"),
    "application/openmetrics-text;version=1.0.0;q=0.2,text/plain;version=0.0.4;q=0.1",
  );
});

/** An endpoint that does not end: it answers and stalls, or does not answer. */
function stalling(text?: string) {
  const left = Promise.withResolvers<void>();
  const answer: Endpoint = (request) => {
    request.signal.addEventListener("abort", () => left.resolve());
    if (text === undefined) return left.promise.then(() => new Response());
    return new Response(
      new ReadableStream({ start: (controller) => controller.enqueue(new TextEncoder().encode(text)) }),
    );
  };
  return { answer, left: left.promise };
}

for (const text of [undefined, "b 2\n"]) {
  const what = text === undefined ? "does not answer" : "does not end its answer";
  Deno.test(`merged metrics: an application that ${what} does not affect other metrics`, async () => {
    const { answer, left } = stalling(text);
    await using merge = await merging(A, answer);
    const { rest, status } = await merge.scrape({ "x-prometheus-scrape-timeout-seconds": "2" });
    assert.deepEqual([status, rest], [200, A + (text ?? "")]);
    await left;
    assert.match(merge.log(), /Scraping the metrics of the application failed: .*the scrape timed out/);
  });

  Deno.test(`merged metrics: a client that disconnects aborts the scrape of an application that ${what}`, async () => {
    const { answer, left } = stalling(text);
    await using merge = await merging(A, answer);
    await assert.rejects(async () => {
      const response = await fetch(`${merge.origin}/metrics`, { signal: AbortSignal.timeout(300) });
      await response.text();
    });
    await left;
    assert.doesNotMatch(merge.log(), /error/);
  });
}

Deno.test("merged metrics: an invalid timeout is logged and ignored", async () => {
  await using merge = await merging(A);
  assert.equal((await merge.scrape({ "x-prometheus-scrape-timeout-seconds": "so{o}n" })).rest, A);
  assert.match(merge.log(), /warning agent: Cannot read the scrape timeout "so\{o\}n"/);
});

/** A text of this many lines, made as it is read; `sent` says how far. */
function long(lines: number) {
  const block = new TextEncoder().encode(`my_metric_total{path="/abc",code="200"} 1234\n`.repeat(1000));
  const state = { sent: 0, cancelled: false };
  const answer: Endpoint = () => {
    let left = lines;
    return new Response(
      new ReadableStream({
        pull(controller) {
          if (left <= 0) return controller.close();
          left -= 1000;
          state.sent += block.length;
          controller.enqueue(block.slice());
        },
        cancel: () => void (state.cancelled = true),
      }, { highWaterMark: 0 }),
    );
  };
  return { answer, state };
}

Deno.test("merged metrics: 50 MB are streamed, in any encoding", async () => {
  const { answer, state } = long(1_200_000);
  await using merge = await merging(A, answer);
  for (const encoding of ["identity", "gzip"]) {
    state.sent = 0;
    const response = await fetch(`${merge.origin}/metrics`, { headers: { "accept-encoding": encoding } });
    let size = 0;
    for await (const piece of response.body ?? []) size += piece.length;
    assert.ok(size > state.sent && size < state.sent + 10_000, `${size} of ${state.sent}`);
    assert.ok(state.sent > 50_000_000);
  }
});

Deno.test(
  "merged metrics: an endless application is read at the client's pace, and aborted with it",
  async () => {
    const { answer, state } = long(Infinity);
    await using merge = await merging(A, answer);
    const client = new AbortController();
    const response = await fetch(`${merge.origin}/metrics`, {
      signal: client.signal,
      // Compressed it would be so small that buffers could hold it for ever.
      headers: { "accept-encoding": "identity" },
    });
    const reader = response.body?.getReader();
    await reader?.read();
    // The client reads no more: what buffers of sockets hold is sent, and nothing after it.
    let before = -1;
    while (before !== state.sent) {
      before = state.sent;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
    assert.ok(state.sent < 50_000_000, String(state.sent));
    client.abort();
    while (!state.cancelled) await new Promise((resolve) => setTimeout(resolve, 10));
    await assert.rejects(async () => await reader?.read());
  },
);

Deno.test("merged metrics: too many clients get 503 until others finish", async () => {
  const { answer } = stalling("b 2\n");
  await using merge = await merging(A, answer);
  const clients = new AbortController();
  const { signal } = clients;
  const ask = () => fetch(`${merge.origin}/metrics`, { signal, headers: { "accept-encoding": "identity" } });
  const held = await Promise.all(Array.from({ length: 20 }, ask));
  assert.deepEqual(held.map(({ status }) => status), Array(20).fill(200));
  const refused = await merge.scrape();
  assert.deepEqual([refused.status, refused.text], [503, "More than 20 concurrent scrapes\n"]);
  clients.abort();
  await Promise.all(held.map(({ body }) => body?.cancel().catch(() => {})));
  const short = { "x-prometheus-scrape-timeout-seconds": "2" };
  while ((await merge.scrape(short)).status === 503) await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal((await merge.scrape(short)).rest, `${A}b 2\n`);
});
