import assert from "node:assert/strict";
import { SystemError } from "../../../platform/mod.ts";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import { type Attempt, type Proof, prove, until } from "./attempt.ts";
import type { Flow } from "../flows.ts";

const FLOW: Flow = { kind: "outbound", family: 4, targets: [], port: 15001, owner: "" };
const ESCAPED: Attempt = { target: undefined, outcome: "escaped", reason: "it went elsewhere" };
const PROVED: Attempt = { target: undefined, outcome: "proved", reason: "it is here" };

function proofOf(milliseconds: number, stop = new AbortController().signal): Proof {
  const world = fakeWorld();
  return { world, deadline: world.clock.monotonic() + milliseconds, isExcluded: () => false, stop };
}

/** Makes attempts with these outcomes, repeating the last one; returns the result and the number of attempts. */
async function attempts(proof: Proof, ...outcomes: readonly Attempt[]) {
  let made = 0;
  const { outcome, reason } = await prove(proof, FLOW, () => {
    made++;
    return Promise.resolve(outcomes[Math.min(made, outcomes.length) - 1] ?? ESCAPED);
  });
  return { outcome, reason, made };
}

Deno.test("prove(): an escaped flow is tried again each second, because rules may be added later", async () => {
  assert.deepEqual(await attempts(proofOf(5000), ESCAPED, ESCAPED, PROVED), { ...resultOf(PROVED), made: 3 });
});

Deno.test("prove(): a flow that escapes until the deadline is reported as escaped", async () => {
  assert.deepEqual(await attempts(proofOf(5000), ESCAPED), { ...resultOf(ESCAPED), made: 5 });
  assert.deepEqual(await attempts(proofOf(300), ESCAPED), { ...resultOf(ESCAPED), made: 1 });
});

Deno.test("prove(): a signal stops it", async () => {
  assert.equal((await attempts(proofOf(5000, AbortSignal.abort()), ESCAPED)).made, 1);
});

Deno.test("prove(): an error of the kernel is neither proved nor escaped", async () => {
  const { outcome, reason } = await prove(proofOf(5000), FLOW, () => Promise.reject(new SystemError("socket", 97)));
  assert.deepEqual([outcome, reason], ["not provable", "socket: address family not supported"]);
});

Deno.test("until(): the first result, or undefined at the deadline", async () => {
  const proof = proofOf(5000);
  let asked = 0;
  assert.equal(await until(proof, 100, () => ++asked === 3 ? "yes" : undefined), "yes");
  assert.equal(await until(proof, 100, () => undefined), undefined);
  assert.ok(proof.world.clock.monotonic() >= 100 && proof.world.clock.monotonic() < 110);
});

function resultOf({ outcome, reason }: Attempt) {
  return { outcome, reason };
}
