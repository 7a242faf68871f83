/** Renewal of certificates and rotation of roots under load. */
import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import type { Mesh as WholeMesh } from "./support/mesh.ts";
import { Mesh } from "./support/mesh.ts";
import { missing } from "./support/pod.ts";
import { spiffe } from "./support/resources.ts";

/** Longer than the renewals of a test take. */
const MAX_MILLISECONDS = 60_000;

/** The pause between bursts. Without it the requests use a whole processor for half a minute. */
const PAUSE_MILLISECONDS = 400;

/** Sends bursts of requests until `isDone`. Fails if a request fails. Returns the number of requests. */
async function askUntil(mesh: WholeMesh, isDone: () => Promise<boolean>): Promise<number> {
  const end = performance.now() + MAX_MILLISECONDS;
  let asked = 0;
  while (!await isDone()) {
    for (let burst = 0; burst < 10; burst++, asked++) {
      const { status, text } = await mesh.ask();
      assert.equal(status, 200, `Request ${asked}: ${text}`);
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
    assert.ok(
      performance.now() < end,
      `Not done after ${asked} requests: ${JSON.stringify((await mesh.plane.seen()).ca)}`,
    );
  }
  return asked;
}

/** The smaller number of certificates that one of the pods got. */
async function issued(mesh: WholeMesh): Promise<number> {
  const { ca } = await mesh.plane.seen();
  const count = (pod: string) => ca.filter(({ identity, code }) => identity === spiffe(pod) && code === "OK").length;
  return Math.min(count("a"), count("b"));
}

testWhen(
  missing,
  "renewal: 20-second certificates are renewed twice under load; no request fails",
  async () => {
    await using mesh = await Mesh.create({ leafSeconds: 20 });
    await mesh.startBoth();
    const asked = await askUntil(mesh, async () => await issued(mesh) >= 3);
    assert.ok(asked > 100, `${asked} requests are no load`);
  },
);

testWhen(missing, "renewal: a new root replaces the old one under load; no request fails", async () => {
  await using mesh = await Mesh.create({ leafSeconds: 8 });
  await mesh.startBoth();
  const old = await mesh.plane.roots();
  for (const step of ["trust-both", "sign-by-new", "drop-old"] as const) {
    await mesh.plane.turnRoot(step);
    await mesh.writeRoots();
    const before = await issued(mesh);
    await askUntil(mesh, async () => await issued(mesh) >= before + 2);
  }
  assert.notEqual(await mesh.plane.roots(), old);
});
