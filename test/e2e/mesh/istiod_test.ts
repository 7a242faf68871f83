/**
 * A real istiod that is absent, killed, hung, slow, or refuses certificates. Requests continue, and everything
 * recovers.
 */
import assert from "node:assert/strict";
import { isLong } from "../../support/long.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { type Agent, AGENTS } from "./support/agents.ts";
import { Door } from "./support/door.ts";
import { printRow, underLoad } from "./support/figures.ts";
import { SECURE_PORT } from "./support/istiod.ts";
import type { Load } from "./support/load.ts";
import { missing, type PodPair, RealMesh } from "./support/mesh.ts";

/** The number and duration of the faults. */
const SIZE = isLong()
  ? { ttl: 40, absent: 30, kills: 10, dead: 8, hung: 15, delay: 500, rotations: 3 }
  : { ttl: 12, absent: 3, kills: 2, dead: 1, hung: 3, delay: 200, rotations: 1 };
/** Refused requests before istiod signs again: enough that each pod has asked more than once. */
const REFUSALS = 6;
/** The port of istiod behind a forwarder. */
const INNER_PORT = 25012;

for (const agent of AGENTS) {
  testWhen(needsCluster() ?? missing, `istiod: pods of ${agent.name} survive its faults`, async (t) => {
    await using mesh = await RealMesh.create({ agent, ttl: `${SIZE.ttl}s` });
    await using pair = await mesh.pair({ name: "web" });
    const step = (name: string, body: (load: Load) => Promise<string | void>) =>
      underLoad(t, pair, { agent, name }, body);

    await t.step("absent at the start of the pods", (t) => isAbsent(t, mesh, pair, agent));
    await t.step("plain text is refused", () => refusesPlainText(mesh, pair));
    await step("killed and started again", async (load) => {
      for (let kill = 0; kill < SIZE.kills; kill++) {
        await mesh.istiod.kill();
        await pause(SIZE.dead);
        await mesh.istiod.start();
        await load.answered(100);
      }
      await load.rotated();
      return `${SIZE.kills} times, ${SIZE.dead} s each`;
    });
    await step("hung", async (load) => {
      mesh.istiod.stop();
      await pause(SIZE.hung);
      mesh.istiod.go();
      await load.rotated();
      return `${SIZE.hung} s`;
    });
    await step("slow", async (load) => {
      await slowly(mesh, async () => {
        for (let rotation = 0; rotation < SIZE.rotations; rotation++) await load.rotated();
      });
      return `each piece of data ${SIZE.delay} ms late`;
    });
    await step("refuses the certificate", async (load) => {
      await restart(mesh, { MAX_WORKLOAD_CERT_TTL: `${SIZE.ttl - 1}s` });
      await until(() => refusals(mesh) >= REFUSALS, () => `istiod refuses nothing:\n${mesh.istiod.log()}`);
      const refused = refusals(mesh);
      await restart(mesh, {});
      await load.rotated();
      return `${refused} requests refused`;
    });
  });
}

/** Starts the pods without istiod. They become ready when it is there. */
async function isAbsent(t: Deno.TestContext, mesh: RealMesh, { a, b }: PodPair, agent: Agent): Promise<void> {
  const start = performance.now();
  await mesh.istiod.kill();
  const pods = [a, b];
  await Promise.all(pods.map((pod) => pod.start()));
  await pause(SIZE.absent);
  for (const pod of pods) assert.equal(await pod.isReady(), false, "The pod is ready without istiod");
  await mesh.istiod.start();
  const back = performance.now();
  await Promise.all(pods.map((pod) => pod.ready()));
  const more = `ready ${((performance.now() - back) / 1000).toFixed(1)} s after it was there`;
  await printRow(t, { agent, name: "absent at the start of the pods" }, { seconds: (back - start) / 1000, more });
}

/** Mutual TLS is strict: a client without a proxy gets no answer. */
async function refusesPlainText(mesh: RealMesh, { b }: PodPair): Promise<void> {
  const { status, text } = await mesh.parts.prober.ask(`http://${b.address}:8080/headers`);
  assert.equal(status, 0, `Plain text got an answer: ${text}`);
}

/** Puts istiod behind a forwarder that delays all data while `body` runs. */
async function slowly(mesh: RealMesh, body: () => Promise<void>): Promise<void> {
  await mesh.istiod.kill();
  await mesh.istiod.start({ port: INNER_PORT });
  {
    const inner = { transport: "tcp", hostname: "127.0.0.1", port: INNER_PORT } as const;
    await using door = await Door.open(
      { transport: "tcp", hostname: "::", port: SECURE_PORT },
      inner,
      mesh.parts.network.machine,
    );
    await door.delay(SIZE.delay);
    await body();
  }
  await restart(mesh, {});
}

async function restart(mesh: RealMesh, env: Readonly<Record<string, string>>): Promise<void> {
  await mesh.istiod.kill();
  await mesh.istiod.start({ env });
}

function refusals(mesh: RealMesh): number {
  return mesh.istiod.log().match(/requested TTL \S+ is greater than the max allowed TTL/g)?.length ?? 0;
}

function pause(seconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, seconds * 1000));
}
