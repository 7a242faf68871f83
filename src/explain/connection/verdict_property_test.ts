/** Removing parts of a snapshot may make a verdict unknown, but never changes it to another known verdict. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { re2Library } from "../../golang/re2.ts";
import type { Answer } from "../answer_schema.ts";
import { absentPart } from "../snapshot/snapshot.ts";
import type { ProbedSnapshot } from "../evidence.ts";
import { readConnection } from "../question/read_connection.ts";
import { answerWith } from "./answer.ts";
import { factsOf } from "./facts.ts";
import { type Changes, fakeSnapshot } from "./fake_snapshot_test.ts";

const RUNS = 2000;

/** Pods, healthy or with problems. */
const PODS: fc.Arbitrary<Changes> = fc.record({
  endpoints: fc.constantFrom([], ["10.0.0.8"], ["10.0.0.9"], ["10.0.0.9", "10.0.0.10"]),
  tlsMode: fc.constantFrom("istio", ""),
  isEjected: fc.constantFrom(true, false, false),
  cluster: fc.constantFrom(
    ...Array<string>(4).fill("outbound|80||web.shop.svc.cluster.local"),
    "outbound|80|v9|web.shop.svc.cluster.local",
    "PassthroughCluster",
  ),
  passthrough: fc.constantFrom("PassthroughCluster", "BlackHoleCluster"),
  hasListeners: fc.constantFrom(true, true, true, false),
  expires: fc.constantFrom("2026-01-01T00:00:00Z", "2036-01-01T00:00:00Z", "2036-01-01T00:00:00Z"),
  sockets: fc.constantFrom([8080], [8080], [8080], [9999], ["127.0.0.1:8080"]),
  isPermissive: fc.boolean(),
  allow: fc.constantFrom({ source_ip: "10.1.0.0" }, { source_ip: "10.9.0.0" }, { source_ip: "10.9.0.0" }, {
    identity: "spiffe://x/ns/a/sa/b",
  }),
}, { requiredKeys: [] });

const QUESTIONS = [
  "web:80/",
  "web:9999",
  "web:80/x",
  "10.96.0.9:80",
  "web.shop:80/",
  "nowhere:81",
  "10.1.1.1:81",
  "10.96.0.9:9999",
  "",
  "",
];

const PARTS = ["config_dump.json", "clusters.json", "certs.json", "pod.json", "rules.iptables", "sockets.txt"] as const;
const SECTIONS = ["ListenersConfigDump", "ClustersConfigDump", "RoutesConfigDump", "EndpointsConfigDump"] as const;

/** The snapshot without some parts, sections of Envoy's configuration, or its time. */
function without(
  snapshot: ProbedSnapshot,
  { parts, sections, hasTime }: {
    readonly parts: readonly string[];
    readonly sections: readonly string[];
    readonly hasTime: boolean;
  },
): ProbedSnapshot {
  const { text = "" } = snapshot.parts["config_dump.json"];
  const { configs }: { configs: { "@type": string }[] } = JSON.parse(text);
  const left = configs.filter((each) => !sections.some((name) => each["@type"].endsWith(name)));
  const kept = Object.entries(snapshot.parts).map(([name, part]) => {
    if (parts.includes(name)) return [name, absentPart("not-in-snapshot", "taken away")] as const;
    return [name, name === "config_dump.json" ? { text: JSON.stringify({ configs: left }) } : part] as const;
  });
  return {
    ...snapshot,
    time: hasTime ? snapshot.time : undefined,
    parts: { ...snapshot.parts, ...Object.fromEntries(kept) },
  };
}

function ask(snapshot: ProbedSnapshot, question: string): Answer {
  const to = question === "" ? undefined : question;
  const from = to === undefined ? "10.9.9.9" : undefined;
  const toPort = to === undefined ? 8080 : undefined;
  const connection = readConnection({ to, from, toPort, method: undefined, header: [], sni: undefined });
  assert.ok(connection !== undefined);
  return answerWith(factsOf(snapshot), connection);
}

/** Checks that `reaches` has no worse station. */
function assertHonest({ verdict, reason, stations }: Answer): void {
  if (verdict !== "reaches") return;
  const worse = stations.filter(({ result }) => result === "unknown" || result === "error");
  assert.deepEqual(worse, [], reason);
}

Deno.test(`no verdict is surer than the parts of ${RUNS} snapshots`, async () => {
  await re2Library.loaded();
  const taken = fc.record({
    parts: fc.subarray([...PARTS], { maxLength: 2 }),
    sections: fc.subarray([...SECTIONS], { maxLength: 1 }),
    hasTime: fc.nat(9).map((number) => number > 0),
  });
  const verdicts = new Map<string, number>();
  fc.assert(
    fc.property(PODS, fc.constantFrom(...QUESTIONS), taken, (pod, question, away) => {
      const whole = fakeSnapshot(pod);
      const [full, less] = [ask(whole, question), ask(without(whole, away), question)];
      assertHonest(full);
      assertHonest(less);
      verdicts.set(less.verdict, (verdicts.get(less.verdict) ?? 0) + 1);
      if (less.verdict !== "unknown") assert.equal(less.verdict, full.verdict, `${less.reason} / ${full.reason}`);
    }),
    { numRuns: RUNS, seed: 30 },
  );
  for (const verdict of ["reaches", "refused", "unknown"]) assert.ok((verdicts.get(verdict) ?? 0) > 50, verdict);
});
