/** Roots are replaced, token files rotate, and a token is refused, under load in a real istiod's mesh. */
import assert from "node:assert/strict";
import { isLong } from "../../support/long.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { AGENTS } from "./support/agents.ts";
import { MeshAuthority } from "./support/authority.ts";
import { underLoad } from "./support/figures.ts";
import type { Load } from "./support/load.ts";
import { missing, type PodPair, RealMesh } from "./support/mesh.ts";

/** The number and duration of the faults. */
const SIZE = isLong() ? { ttl: 40, rounds: 3, tokens: 10 } : { ttl: 12, rounds: 1, tokens: 2 };

/** Requests that istiod refuses before the right token is back. */
const REFUSALS = 4;

const ROOTS = "istiod-ca-cert";
const TOKEN = "istio-token";

for (const agent of AGENTS) {
  testWhen(needsCluster() ?? missing, `trust: pods of ${agent.name} follow new roots and tokens`, async (t) => {
    await using mesh = await RealMesh.create({ agent, ttl: `${SIZE.ttl}s` });
    await using pair = await mesh.readyPair({ name: "web" });
    const step = (name: string, body: (load: Load) => Promise<string | void>) =>
      underLoad(t, pair, { agent, name }, body);

    await step("roots replaced", async (load) => {
      let old = mesh.parts.root;
      for (let round = 0; round < SIZE.rounds; round++) old = await replaceRoot(mesh, pair, load, old);
      return `${SIZE.rounds} times: both trusted, the new one signs, the old one dropped`;
    });
    await step("token file rotated", async (load) => {
      for (let token = 0; token < SIZE.tokens; token++) {
        for (const { volumes } of [pair.a, pair.b]) await volumes.refresh(TOKEN);
        await load.rotated();
      }
      return `${SIZE.tokens} times, a certificate with each`;
    });
    await step("token of another audience", async (load) => {
      const { istiod } = mesh;
      const before = refusals(istiod.log());
      for (const { volumes } of [pair.a, pair.b]) await volumes.refresh(TOKEN, { audience: "somebody-else" });
      await until(() => refusals(istiod.log()) >= before + REFUSALS, () => `istiod refuses nothing:\n${istiod.log()}`);
      const refused = refusals(istiod.log()) - before;
      for (const { volumes } of [pair.a, pair.b]) await volumes.refresh(TOKEN);
      await load.rotated();
      return `${refused} requests refused`;
    });
  });
}

/** How often istiod has refused a token, by its log. */
function refusals(log: string): number {
  return log.match(/token audiences \["somebody-else"\] is invalid/g)?.length ?? 0;
}

/**
 * The steps of Istio's documentation: trust both roots, sign with the new root, drop the old root. Returns the new one.
 */
async function replaceRoot(mesh: RealMesh, pair: PodPair, load: Load, old: MeshAuthority): Promise<MeshAuthority> {
  const next = new MeshAuthority();
  for (const [signing, roots] of [[old, [old, next]], [next, [old, next]], [next, [next]]] as const) {
    await mesh.istiod.plugIn(signing.files(roots));
    await mesh.hasRoots(roots.map(({ root }) => root).join(""));
    for (const { volumes } of [pair.a, pair.b]) await volumes.refresh(ROOTS);
    await load.rotated();
  }
  assert.notEqual(old.root, next.root);
  return next;
}
