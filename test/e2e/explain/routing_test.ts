/** A real Envoy sends requests where `explain` says. */
import assert from "node:assert/strict";
import { re2Library } from "../../../src/golang/re2.ts";
import { factsOf } from "../../../src/explain/connection/facts.ts";
import { disagreements, type Logged } from "../../support/explain_requests.ts";
import { isLong } from "../../support/long.ts";
import type { RealEnvoy } from "../../support/programs/envoy.ts";
import { envoysOfRun } from "../../support/programs/envoys.ts";
import { testWhen } from "../../support/test_when.ts";
import { OUTSIDE, POD } from "../iptables/support/pod.ts";
import { EnvoyPod, missing } from "./support/envoy_pod.ts";
import { record } from "./support/record.ts";
import { REQUESTS } from "./support/requests.ts";

for (const envoy of await envoysOfRun()) {
  testWhen(
    missing ?? envoy.missing,
    `explain and a real Envoy ${envoy.version} agree on every request of a mesh with services of every kind`,
    () => agree(envoy),
  );
}

async function agree(envoy: RealEnvoy): Promise<void> {
  assert.ok(REQUESTS.length >= 200, `${REQUESTS.length} requests`);
  await using pod = await EnvoyPod.start(envoy.path);
  await re2Library.loaded();
  const snapshot = await pod.snapshot();
  const facts = factsOf(snapshot);
  const ports = await pod.send(REQUESTS);
  const lines = await pod.logged(ports, (index) => REQUESTS[index]?.from === "outside" ? OUTSIDE[4] : POD[4]);
  assert.equal(lines.length, REQUESTS.length);
  const recorded = REQUESTS.flatMap((sent, index) => {
    const line = lines[index];
    return line === undefined ? [] : [{ sent, line }];
  });
  assert.deepEqual(recorded.flatMap((each) => disagreements(facts, each)), []);
  if (Deno.env.get("UPDATE") === "1" && !isLong()) await record(snapshot, recorded);
  assertVariety(lines);
}

/** The requests must reach many listeners, routes and clusters, and cause each kind of error. */
function assertVariety(lines: readonly Logged[]): void {
  const values = (of: (line: Logged) => string | null) => new Set(lines.map(of)).size;
  assert.ok(values(({ listener }) => listener) >= 15, "listeners");
  // Weights and faults are random: a few routes and clusters may get no request.
  assert.ok(values(({ route }) => route) >= 35, "routes");
  assert.ok(values(({ cluster }) => cluster) >= 25, "clusters");
  for (const flag of ["UF", "NR", "NC", "UH", "FI"]) {
    assert.ok(lines.some(({ flags }) => (flags ?? "").split(",").includes(flag)), flag);
  }
}
