import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { ApiError, ConflictError, type KubeObject } from "./api.ts";
import { connect } from "./connect.ts";

const CONFIG = `clusters: [{name: c, cluster: {server: "https://c.test"}}]
users: [{name: u, user: {token: "secret-token"}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;

const MAP = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };

async function clientOf(...answers: Response[]) {
  const asked: string[] = [];
  const world = fakeWorld({
    files: { k: CONFIG },
    request(url, init) {
      const type = new Headers(init?.headers).get("content-type") ?? "";
      asked.push(`${init?.method} ${url} ${type} ${init?.body ?? ""}`.trim());
      return answers.shift() ?? new Response("", { status: 418 });
    },
  });
  return { api: await connect(world, { kubeconfig: "k" }), asked, world };
}

Deno.test("requests have the method, content type and body of the API", async () => {
  const { api, asked } = await clientOf(...Array.from({ length: 5 }, () => Response.json(MAP)));
  await api.get("/m/a");
  await api.create("/m", { x: 1 });
  await api.replace("/m/a", { x: 2 });
  await api.patch("/m/a", "apply", { x: 3 }, { fieldManager: "me" });
  assert.equal(await api.remove("/m/a"), true);
  assert.deepEqual(asked, [
    "GET https://c.test/m/a",
    'POST https://c.test/m application/json {"x":1}',
    'PUT https://c.test/m/a application/json {"x":2}',
    'PATCH https://c.test/m/a?fieldManager=me application/apply-patch+yaml {"x":3}',
    "DELETE https://c.test/m/a",
  ]);
});

Deno.test("list() reads all pages, and items have version and kind", async () => {
  const page = (rest: object, ...names: string[]) =>
    Response.json({
      apiVersion: "v1",
      kind: "ConfigMapList",
      metadata: { resourceVersion: "7", ...rest },
      items: names.map((name) => ({ metadata: { name } })),
    });
  const { api, asked } = await clientOf(page({ continue: "more+" }, "a", "b"), page({}, "c"));
  const { items, resourceVersion } = await api.list("/m", { labelSelector: "x" });
  assert.deepEqual(items.map(({ kind, apiVersion, metadata }) => `${apiVersion} ${kind} ${metadata.name}`), [
    "v1 ConfigMap a",
    "v1 ConfigMap b",
    "v1 ConfigMap c",
  ]);
  assert.equal(resourceVersion, "7");
  assert.match(asked[1] ?? "", /limit=500&labelSelector=x&continue=more%2B$/);
});

Deno.test("list() takes the page size, and reduces objects by keep", async () => {
  const { api, asked } = await clientOf(Response.json({ apiVersion: "v1", kind: "ConfigMapList", items: [MAP] }));
  const { items } = await api.list("/m", { limit: "7" }, (object) => ({ ...object, kind: "Kept" }));
  assert.deepEqual(items, [{ ...MAP, kind: "Kept" }]);
  assert.match(asked[0] ?? "", /\/m\?limit=7$/);
});

Deno.test("list() parses the fields of keep only, in pages of any length", async () => {
  const page = (more: string, name: string, length: number) => {
    const data = { other: "x".repeat(length) };
    const items = [{ metadata: { name, uid: "1" }, data: { key: name, ...data }, binaryData: data }];
    return Response.json({ kind: "ConfigMapList", apiVersion: "v1", metadata: { continue: more }, items });
  };
  const keep = Object.assign((object: KubeObject) => object, {
    fields: { metadata: { name: true }, data: { key: true } } as const,
  });
  const { api } = await clientOf(page("1", "a", 10), page("2", "b", 300_000), page("", "c", 1), new Response('{"a'));
  const { items } = await api.list("/m", {}, keep);
  assert.deepEqual(
    items,
    ["a", "b", "c"].map((name) => {
      return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { key: name } };
    }),
  );
  await assert.rejects(() => api.list("/m", {}, keep), { message: "The answer to GET /m is not valid JSON" });
});

function refused(status: number, message: string, init: ResponseInit = {}): Response {
  return Response.json({ kind: "Status", message }, { status, ...init });
}

Deno.test("a missing object is no error of get() and remove(), but of list()", async () => {
  const { api } = await clientOf(refused(404, "a"), refused(404, "b"), refused(404, "the server has no such type"));
  assert.equal(await api.get("/m/a"), undefined);
  assert.equal(await api.remove("/m/a"), false);
  await assert.rejects(api.list("/m"), {
    status: 404,
    message: /answered 404 to GET \/m: the server has no such type$/,
  });
});

Deno.test("a refused request names the role that grants it", async () => {
  const hint = async (message: string) => {
    const { api } = await clientOf(refused(403, message));
    return await api.list("/m").then(() => undefined, (error: ApiError) => error.hint);
  };
  const list = 'pods is forbidden: User "u" cannot list resource "pods" in API group ""';
  assert.equal(
    await hint(`${list} in the namespace "a"`),
    "an administrator can grant the permission with a Role and a RoleBinding",
  );
  assert.match(await hint(`${list} at the cluster scope`) ?? "", /with a ClusterRole and a ClusterRoleBinding$/);
});

Deno.test("a long message keeps its beginning and its end", async () => {
  const names = Array.from({ length: 300 }, (_, index) => `host-${index}.example.com`).join(", ");
  const said = `failed calling webhook "a": x509: certificate is valid for ${names}, not webhook.istio-system.svc`;
  const { api } = await clientOf(refused(500, said));
  const error: ApiError = await api.create("/m", {}).then(() => assert.fail(), (thrown) => thrown);
  assert.match(error.message, /failed calling webhook "a": x509: .*…[^…]*, not webhook\.istio-system\.svc$/);
  assert.ok(error.message.length < 2_200);
});

Deno.test("errors name the request, and never the token", async () => {
  const { api } = await clientOf(
    refused(401, "Unauthorized"),
    refused(403, 'configmaps "a" is forbidden: User "u" cannot get resource "configmaps"'),
    refused(409, "the object has been modified"),
    new Response("<h1>Bad\nGateway</h1>", { status: 502 }),
    new Response("", { status: 500 }),
  );
  const errors: ApiError[] = [];
  for (let left = 5; left > 0; left--) {
    await api.replace("/m/a", {}).catch((error) => errors.push(error));
  }
  assert.deepEqual(errors.map(({ message }) => message), [
    'The Kubernetes API server "https://c.test" does not accept the credentials of context "x" of "k"',
    'The Kubernetes API server denied the request: configmaps "a" is forbidden: User "u" cannot get resource "configmaps"',
    'The Kubernetes API server "https://c.test" answered 409 to PUT /m/a: the object has been modified',
    'The Kubernetes API server "https://c.test" answered 502 to PUT /m/a: <h1>Bad; Gateway</h1>',
    'The Kubernetes API server "https://c.test" answered 500 to PUT /m/a: no reason given',
  ]);
  assert.ok(errors[2] instanceof ConflictError);
  assert.ok(errors.every((error) => error instanceof ApiError && !Deno.inspect(error).includes("secret-token")));
});

Deno.test("429 is retried after Retry-After, a few times", async () => {
  const busy = () => refused(429, "too many requests", { headers: { "retry-after": "2" } });
  const { api, asked, world } = await clientOf(busy(), Response.json(MAP), busy(), busy(), busy(), busy());
  assert.equal((await api.get("/m/a"))?.metadata.name, "a");
  assert.deepEqual([asked.length, world.clock.monotonic()], [2, 2000]);
  await assert.rejects(api.get("/m/a"), { status: 429 });
  assert.equal(asked.length, 6);
});

Deno.test("another server than an API server is an error", async () => {
  const { api } = await clientOf(new Response("<html>"), Response.json({ hello: 1 }), Response.json([]));
  await assert.rejects(api.get("/m/a"), { message: "The answer to GET /m/a is not valid JSON" });
  await assert.rejects(api.get("/m/a"), { message: "The answer to get /m/a is not a Kubernetes object" });
  await assert.rejects(api.list("/m"), { message: "The answer to list /m is not a Kubernetes list" });
});

Deno.test("a closed client sends nothing", async () => {
  const { api, asked } = await clientOf(Response.json(MAP));
  api.close();
  await assert.rejects(api.get("/m/a"), { message: 'The connection to "https://c.test" is closed' });
  assert.deepEqual(asked, []);
});

Deno.test("an answer is read whole from any chunks, by byte streams and others", async () => {
  const note = "\u00e4\u20ac\u{1f600}".repeat(100_000);
  const bytes = new TextEncoder().encode(JSON.stringify({ ...MAP, note }));
  const pieces = [bytes.slice(0, 41), bytes.slice(41, 300_000), bytes.slice(300_000)];
  const start = (controller: { enqueue(piece: Uint8Array<ArrayBuffer>): void; close(): void }) => {
    pieces.forEach((piece) => controller.enqueue(piece.slice()));
    controller.close();
  };
  const streams = [
    new ReadableStream<Uint8Array<ArrayBuffer>>({ type: "bytes", start }),
    new ReadableStream<Uint8Array<ArrayBuffer>>({ start }),
  ];
  for (const stream of streams) {
    const { api } = await clientOf(new Response(stream));
    assert.equal((await api.get("/m/a"))?.["note"], note);
  }
});

Deno.test("a truncated answer is an error", async () => {
  const bytes = new TextEncoder().encode('{"apiVersion":');
  for (const type of ["bytes", undefined] as const) {
    let isSent = false;
    const pull = (
      controller: ReadableByteStreamController | ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>,
    ) => {
      if (isSent) return controller.error(new Error("gone"));
      isSent = true;
      controller.enqueue(bytes.slice());
    };
    const stream = type === "bytes" ? new ReadableStream({ type, pull }) : new ReadableStream({ pull });
    const { api } = await clientOf(new Response(stream));
    await assert.rejects(
      () => api.get("/m/a"),
      /^ApiError: The answer from "https:\/\/c\.test" to GET \/m\/a was interrupted/,
    );
  }
});

Deno.test("a list with dropped pages is read again, once", async () => {
  const page = (more: string, name: string) =>
    Response.json({ apiVersion: "v1", kind: "PodList", metadata: { continue: more }, items: [{ metadata: { name } }] });
  const gone = () =>
    Response.json({ kind: "Status", message: "The provided continue parameter is too old" }, { status: 410 });
  const { api, asked } = await clientOf(page("more", "old"), gone(), page("again", "a"), page("", "b"));
  assert.deepEqual((await api.list("/p")).items.map(({ metadata }) => metadata.name), ["a", "b"]);
  assert.equal(asked.length, 4);
  const never = await clientOf(page("more", "old"), gone(), page("more", "old"), gone());
  await assert.rejects(() => never.api.list("/p"), { status: 410 });
});

Deno.test("a list whose pages do not end is an error, after few requests", async () => {
  const asking = async (token: (request: number) => string) => {
    let requests = 0;
    const world = fakeWorld({
      files: { k: CONFIG },
      request: () => Response.json({ kind: "PodList", metadata: { continue: token(++requests) }, items: [] }),
    });
    const api = await connect(world, { kubeconfig: "k" });
    return { failed: api.list("/p"), requests: () => requests };
  };
  const same = await asking(() => "again");
  await assert.rejects(same.failed, {
    name: "ApiError",
    message: "The list of /p does not end: the server repeats the continue token of an earlier page",
  });
  assert.equal(same.requests(), 2);
  const circle = await asking((request) => `token-${request % 3}`);
  await assert.rejects(circle.failed, /repeats the continue token/);
  assert.equal(circle.requests(), 4);
  const many = await asking(String);
  await assert.rejects(many.failed, /does not end: the list has more than 2000 pages$/);
  assert.equal(many.requests(), 2000);
});
