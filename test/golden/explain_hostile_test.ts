/** Snapshots are untrusted: whatever stands in them, there is an answer of the schema or a clear error. */
import assert from "node:assert/strict";
import { re2Library } from "../../src/golang/re2.ts";
import { fakeWorld } from "../support/fake_world.ts";
import { ANSWER } from "../../src/explain/answer_schema.ts";
import type { Part } from "../../src/explain/snapshot/snapshot.ts";
import { snapshotOf } from "../../src/explain/snapshot/manifest.ts";
import { withoutApi } from "../../src/explain/resources/decided.ts";
import { answerWith } from "../../src/explain/connection/answer.ts";
import { factsOf } from "../../src/explain/connection/facts.ts";
import { explain } from "../../src/explain/mod.ts";
import { readConnection } from "../../src/explain/question/read_connection.ts";

const FOLDER = decodeURIComponent(new URL("./explain/snapshot/", import.meta.url).pathname);
const NAMES = ["config_dump.json", "clusters.json", "pod.json", "rules.iptables"];
const TEXTS = new Map(await Promise.all(NAMES.map(async (name) => [name, await Deno.readTextFile(FOLDER + name)] as const)));

function connection(to: string | undefined, header: readonly string[] = []) {
  const target = to === undefined ? { to, from: "10.199.0.1", toPort: 8081 } : { to, from: undefined, toPort: undefined };
  const read = readConnection({ ...target, method: undefined, header, sni: undefined });
  assert.ok(read !== undefined);
  return read;
}

const CONNECTIONS = [
  connection("10.96.1.1:9080/q?n=1", ["Host:reviews", "x-v:v2"]),
  connection("10.96.1.1:80/", ["Host:half"]),
  connection("https://api.example.com/"),
  connection("tcp://10.96.1.6:3306"),
  connection("reviews:9080"),
  connection(undefined, [":path:/admin"]),
];

/** All answers about a snapshot of these files; each must be one of the schema. */
function answers(files: ReadonlyMap<string, string>) {
  const facts = factsOf(snapshotOf(new Map([...files].map(([name, text]): [string, Part] => [name, { text }])), "x"));
  return CONNECTIONS.map((each) => ANSWER.parse(withoutApi(answerWith(facts, each))));
}

/** Values that stand for another type than the one that is expected. */
const WRONG = [null, true, 0, -1, 1e308, "", "\u001b[2J\u202e", "999999999999999999999", [], {}, [[]], [null], { "@type": "x" }];

/** Numbers from 0 to 1, always the same ones. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
    return state / 0x7fffffff;
  };
}

/** Puts a wrong value at a random place, some levels deep. */
function damage(value: unknown, next: () => number): unknown {
  const wrong = WRONG[Math.floor(next() * WRONG.length)];
  if (typeof value !== "object" || value === null || next() < 0.04) return wrong;
  const keys = Object.keys(value);
  const key = keys[Math.floor(next() * keys.length)];
  if (key === undefined) return wrong;
  const copy: Record<string, unknown> = Object.fromEntries(Object.entries(value));
  copy[key] = damage(copy[key], next);
  return Array.isArray(value) ? Object.values(copy) : copy;
}

Deno.test("wrong types anywhere in a snapshot make no defect", async () => {
  await re2Library.loaded();
  const next = numbers(7);
  const parsed = new Map(["config_dump.json", "clusters.json", "pod.json"].map((name) => [name, JSON.parse(TEXTS.get(name) ?? "")]));
  for (let run = 0; run < 150; run++) {
    const files = new Map(TEXTS);
    for (const [name, value] of parsed) {
      let damaged: unknown = value;
      for (let times = 0; times < 4; times++) damaged = damage(damaged, next);
      files.set(name, JSON.stringify(damaged));
    }
    answers(files);
  }
});

Deno.test("truncated files, files of another kind and rules that are noise are reported", async () => {
  await re2Library.loaded();
  for (const text of ["", "{", (TEXTS.get("config_dump.json") ?? "").slice(0, 5000), "[]", "null", '{"configs":{}}', '"x"']) {
    const [first] = answers(new Map([...TEXTS, ["config_dump.json", text]]));
    assert.equal(first?.verdict, "unknown");
    assert.match(first?.reason ?? "", /config_dump\.json/i);
  }
  const istioctl = JSON.stringify({ configs: [{ "@type": "x/envoy.admin.v3.ClustersConfigDump", versionInfo: "1" }] });
  assert.match(answers(new Map([...TEXTS, ["config_dump.json", istioctl]]))[0]?.reason ?? "", /istioctl/);
  for (const rules of ["*nat\n-A OUTPUT -j", "\u0000\u0001", "*nat\n-A OUTPUT -j OUTPUT\nCOMMIT", "-A x".repeat(10_000)]) {
    answers(new Map([...TEXTS, ["rules.iptables", rules]]));
  }
  assert.equal(answers(new Map([...TEXTS, ["rules.nft", "{"]]))[0]?.stations.find(({ kind }) => kind === "kernel")?.result, "unknown");
});

Deno.test("deep nesting, and expressions that would take long elsewhere, end", async () => {
  await re2Library.loaded();
  const deep = `${'{"not_rule":'.repeat(5000)}{"any":true}${"}".repeat(5000)}`;
  const text = (TEXTS.get("config_dump.json") ?? "").replace('"permissions":[{', `"permissions":[${deep},{`)
    .replace("/items/[0-9]+", "(a*)*b|(a|a)*c");
  assert.equal(answers(new Map([...TEXTS, ["config_dump.json", text]])).length, CONNECTIONS.length);
});

Deno.test("control characters of names do not reach the terminal", async () => {
  const escape = "\\u001b[31m\\u0007\\u202e";
  const config = (TEXTS.get("config_dump.json") ?? "").replaceAll("reviews.default.svc.cluster.local:9080", `reviews${escape}`)
    .replaceAll('"name":"default"', `"name":"default${escape}"`);
  const files = Object.fromEntries([...TEXTS, ["config_dump.json", config]].map(([name, text]) => [`/c/${name}`, text ?? ""]));
  for (const output of ["table", "short", "svg"] as const) {
    const world = fakeWorld({ files });
    const question = { source: { kind: "file", paths: ["/c"], pod: undefined }, connection: CONNECTIONS[0], output, isOneEnd: false } as const;
    await explain(world, question);
    // deno-lint-ignore no-control-regex -- none of these may be printed
    assert.doesNotMatch(world.said.stdout.replaceAll("\n", ""), /[\u0000-\u001f\u007f-\u009f\u202e]/, output);
    assert.match(world.said.stdout, output === "short" ? /reaches/ : /reviews/);
  }
});
