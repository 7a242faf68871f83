import assert from "node:assert/strict";
import type { MeshError } from "../../base/errors.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { connect } from "./connect.ts";

const CONFIG = `clusters: [{name: c, cluster: {server: "https://c.test"}}]
contexts: [{name: x, context: {cluster: c}}]
current-context: x
`;

function object(name: string, resourceVersion: string) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "ns", resourceVersion } };
}

function list(resourceVersion: string, ...items: object[]): Response {
  return Response.json({ apiVersion: "v1", kind: "ConfigMapList", metadata: { resourceVersion }, items });
}

function stream(...events: object[]): Response {
  return new Response(events.map((event) => `${JSON.stringify(event)}\n`).join(""));
}

const gone = { type: "ERROR", object: { kind: "Status", code: 410, message: "too old resource version" } };

/** Watches a server that gives these answers in turn. Returns the events and the queries. */
async function watched(...answers: (Response | Error)[]) {
  const seen: string[] = [];
  const asked: URLSearchParams[] = [];
  const stop = new AbortController();
  const world = fakeWorld({
    files: { k: CONFIG },
    request(url) {
      const { searchParams } = new URL(url);
      asked.push(searchParams);
      const answer = answers.shift();
      if (answer instanceof Error) throw answer;
      if (answer !== undefined) return answer;
      stop.abort();
      return new Response("", { status: 500 });
    },
  });
  const api = await connect(world, { kubeconfig: "k" });
  const options = {
    synced: () => void seen.push("synced"),
    failed: (error: MeshError) => void seen.push(`failed: ${error.message}`),
  };
  for await (const { type, object } of api.watch("/maps", { labelSelector: "a=b" }, stop.signal, options)) {
    seen.push(`${type} ${object.metadata.name} ${object.metadata.resourceVersion}`);
  }
  return { seen, asked: asked.map((query) => query.get("resourceVersion") ?? "list"), queries: asked };
}

Deno.test("watch() yields existing objects, then changes from the last version", async () => {
  const { seen, asked, queries } = await watched(
    list("10", object("a", "3")),
    stream({ type: "MODIFIED", object: object("a", "11") }, { type: "ADDED", object: object("b", "12") }),
    stream({ type: "DELETED", object: object("b", "13") }),
  );
  assert.deepEqual(seen, ["ADDED a 3", "synced", "MODIFIED a 11", "ADDED b 12", "synced", "DELETED b 13"]);
  assert.deepEqual(asked, ["list", "10", "12", "13"]);
  assert.ok(queries.every((query) => query.get("labelSelector") === "a=b"));
  assert.equal(queries[1]?.get("allowWatchBookmarks"), "true");
});

Deno.test("watch() resumes from a bookmark and yields none", async () => {
  const bookmark = { type: "BOOKMARK", object: { kind: "ConfigMap", metadata: { resourceVersion: "99" } } };
  const { seen, asked } = await watched(list("10"), stream(bookmark), stream());
  assert.deepEqual([seen, asked], [["synced", "synced"], ["list", "10", "99", "99"]]);
});

Deno.test("watch() lists again after the server dropped the version, and yields the differences", async () => {
  const { seen, asked } = await watched(
    list("10", object("same", "1"), object("changed", "2"), object("lost", "3")),
    stream(gone),
    list("50", object("same", "1"), object("changed", "40"), object("new", "41")),
    stream(),
  );
  assert.deepEqual(seen.slice(3), ["synced", "MODIFIED changed 40", "ADDED new 41", "DELETED lost 3", "synced"]);
  assert.deepEqual(asked, ["list", "10", "list", "50", "50"]);
});

Deno.test("watch() treats status 410 of a request as a dropped version", async () => {
  const { seen, asked } = await watched(list("10"), Response.json({}, { status: 410 }), list("20"), stream());
  assert.deepEqual([seen, asked], [["synced"], ["list", "10", "list", "20", "20"]]);
});

Deno.test("watch() survives an unreachable or broken server, and reports it", async () => {
  const { seen } = await watched(
    new TypeError("connection refused"),
    Response.json({ message: "etcd is away" }, { status: 500 }),
    list("10"),
    new Response("<html>\n"),
    stream({ type: "ADDED", object: { kind: "ConfigMap" } }),
    stream({ type: "ADDED", object: object("a", "11") }),
  );
  assert.match(seen[0] ?? "", /^failed: The Kubernetes API server "https:\/\/c.test" cannot be reached: connection/);
  assert.match(seen[1] ?? "", /^failed: .* answered 500 to GET \/maps: etcd is away$/);
  assert.deepEqual(seen.slice(2), [
    "synced",
    "failed: An event in the answer to watch /maps is not valid JSON",
    "synced",
    "failed: An event in the answer to watch /maps is not a Kubernetes watch event",
    "synced",
    "ADDED a 11",
  ]);
});

Deno.test("watch() reads events split over chunks", async () => {
  const bytes = new TextEncoder().encode(`${JSON.stringify({ type: "ADDED", object: object("ä", "11") })}\n`);
  const pieces = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const byte of bytes) controller.enqueue(Uint8Array.of(byte));
      controller.close();
    },
  });
  const { seen } = await watched(list("10"), new Response(pieces));
  assert.deepEqual(seen, ["synced", "ADDED ä 11"]);
});

Deno.test("watch() cancels its stream when the caller stops", async () => {
  const cancelled = Promise.withResolvers<void>();
  const events = new ReadableStream<Uint8Array>({
    start: (controller) =>
      controller.enqueue(new TextEncoder().encode(`${JSON.stringify({ type: "ADDED", object: object("a", "1") })}\n`)),
    cancel: () => cancelled.resolve(),
  });
  const answers = [list("10"), new Response(events)];
  const world = fakeWorld({ files: { k: CONFIG }, request: () => answers.shift() ?? new Response() });
  const api = await connect(world, { kubeconfig: "k" });
  for await (const _ of api.watch("/maps", {}, new AbortController().signal)) break;
  await cancelled.promise;
});

Deno.test("watch() takes an event that arrives in single bytes", async () => {
  const large = { ...object("a", "11"), data: { text: "ä".repeat(200_000) } };
  const bytes = new TextEncoder().encode(`\n\n${JSON.stringify({ type: "MODIFIED", object: large })}\n`);
  let at = 0;
  const body = new ReadableStream({
    pull(controller) {
      if (at === bytes.length) return controller.close();
      controller.enqueue(bytes.subarray(at, ++at));
    },
  });
  const { seen } = await watched(list("10"), new Response(body));
  assert.deepEqual(seen, ["synced", "MODIFIED a 11"]);
});

Deno.test("watch() reports a server that accepts it and sends no head", async () => {
  const stop = new AbortController();
  const world = fakeWorld({
    files: { k: CONFIG },
    request(url, init) {
      if (!new URL(url).searchParams.has("watch")) return list("10");
      return new Promise((_, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason)));
    },
  });
  const api = await connect(world, { kubeconfig: "k", requestTimeout: 5 });
  const failures: string[] = [];
  const failed = (error: MeshError) => {
    failures.push(error.message);
    stop.abort();
  };
  for await (const _ of api.watch("/maps", {}, stop.signal, { failed, synced: () => failures.push("synced") }));
  assert.deepEqual(failures, ['The Kubernetes API server "https://c.test" cannot be reached: no answer within 5ms']);
});
