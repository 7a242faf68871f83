import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { main } from "../mod.ts";

const CONFIG = {
  "apiVersion": "v1",
  "kind": "Config",
  "current-context": "a",
  "contexts": [{ name: "a", context: { cluster: "a", user: "a" } }],
  "clusters": [{ name: "a", cluster: { server: "https://10.0.0.1:6443" } }],
  "users": [{ name: "a", user: { token: "secret" } }],
};
const FILE = "/home/ada/.kube/cache/kubectl-mesh-names.json";
const START = Date.parse("2026-11-26T12:00:00Z");

interface Given {
  readonly words?: readonly string[];
  readonly seconds?: number;
  /** Names that the cluster answers; without it nobody answers. */
  readonly names?: readonly string[];
  readonly files?: Record<string, string>;
  readonly config?: unknown;
}

/** Completes a namespace; returns what is offered, whether the cluster was asked, and the file of the cache. */
async function completed({ words = ["check", "-n", ""], seconds = 0, names, files = {}, config = CONFIG }: Given) {
  let asked = 0;
  const world = fakeWorld({
    args: ["__complete", ...words],
    env: { HOME: "/home/ada" },
    now: new Date(START + seconds * 1000),
    files: { "/home/ada/.kube/config": JSON.stringify(config), ...files },
    request: () => {
      asked++;
      if (names === undefined) throw new TypeError("connection refused");
      return Response.json({ items: names.map((name) => ({ metadata: { name } })) });
    },
  });
  const clock = { ...world.clock, sleep: () => new Promise<void>(() => {}) };
  assert.equal(await main({ ...world, clock }), 0);
  const file = await world.files.readText(FILE).catch(() => undefined);
  return { offered: world.said.stdout.trimEnd().split("\n").slice(0, -1), asked, file };
}

async function afterOne(names: readonly string[]): Promise<Record<string, string>> {
  const { file } = await completed({ names });
  assert.ok(file !== undefined);
  return { [FILE]: file };
}

Deno.test("a second completion offers the names of the first one without asking, for half a minute", async () => {
  const files = await afterOne(["shop", "bank"]);
  const again = await completed({ files, seconds: 30, names: ["other"] });
  assert.deepEqual([again.offered, again.asked], [["shop", "bank", "default"], 0]);
  const later = await completed({ files, seconds: 31, names: ["other"] });
  assert.deepEqual([later.offered, later.asked], [["other", "default"], 1]);
});

Deno.test("a prefix without a cached name causes a new request, because the name may be new", async () => {
  const files = await afterOne(["shop"]);
  const { offered, asked } = await completed({ files, words: ["check", "-n", "ne"], names: ["new", "shop"] });
  assert.deepEqual([offered, asked], [["new"], 1]);
});

Deno.test("if the cluster does not answer, cached names of at most one day are offered", async () => {
  const files = await afterOne(["shop"]);
  assert.deepEqual((await completed({ files, seconds: 86_400 })).offered, ["shop", "default"]);
  assert.deepEqual((await completed({ files, seconds: 86_401 })).offered, ["default"]);
  assert.deepEqual((await completed({ files, seconds: -1 })).offered, ["default"]);
});

Deno.test("each context, kubeconfig, namespace, type and user has separate cached names", async () => {
  const files = await afterOne(["shop"]);
  const config = { ...CONFIG, users: [{ name: "a", user: { token: "other" } }] };
  const others: Given[] = [{ config }, { words: ["check", "--as", "bob", "-n", ""] }, { words: ["check", "-r", ""] }];
  for (const other of others) assert.equal((await completed({ files, names: ["x"], ...other })).asked, 1);
});

Deno.test("the file has no secret, and is bounded: 32 lists", async () => {
  let files = await afterOne(["shop"]);
  for (let at = 0; at < 40; at++) {
    const { file = "" } = await completed({ files, words: ["explain", "-n", `ns-${at}`, ""], names: [`pod-${at}`] });
    files = { [FILE]: file };
  }
  const text = files[FILE] ?? "";
  const entries = JSON.parse(text);
  assert.equal(entries.length, 32);
  assert.deepEqual(entries[0].names, ["pod-39"]);
  assert.doesNotMatch(text, /secret|10\.0\.0\.1/);
});

const BROKEN = ["", "{", "null", "[1]", '[{"key":1}]', "[]", "x".repeat(600_000)];

for (const text of BROKEN) {
  Deno.test(`an invalid cache of ${text.length} bytes counts as empty: ${text.slice(0, 12)}`, async () => {
    const { offered, asked } = await completed({ files: { [FILE]: text }, names: ["shop"] });
    assert.deepEqual([offered, asked], [["shop", "default"], 1]);
  });
}

Deno.test("names that Kubernetes does not allow do not come from the cache either", async () => {
  const files = await afterOne(["shop"]);
  const hostile = JSON.parse(files[FILE] ?? "");
  hostile[0].names = ["shop", "a\u001b[31m", "$(id)", "--force", "b c", 7, "x".repeat(400)];
  assert.deepEqual((await completed({ files: { [FILE]: JSON.stringify(hostile) } })).offered, ["shop", "default"]);
});
