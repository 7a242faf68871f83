/** The counts of a fault: printed by the tests, and checked. */
import assert from "node:assert/strict";
import type { Agent } from "./agents.ts";
import { type Counts, Load } from "./load.ts";
import type { PodPair } from "./mesh.ts";

/** A fault, and the agent of the pods. */
export interface Fault {
  readonly agent: Agent;
  readonly name: string;
}

/**
 * Runs `body` under a load, as a step of a test. `body` may return more to print. With this program's pods no request may
 * fail; pilot-agent's failures are only counted.
 */
export async function underLoad(
  t: Deno.TestContext,
  pair: PodPair,
  { agent, name }: Fault,
  body: (load: Load) => Promise<string | void>,
): Promise<void> {
  await t.step(name, async (t) => {
    const start = performance.now();
    await using load = new Load(pair);
    const more = await body(load);
    const counts = await load.stop();
    await printRow(t, { agent, name }, { counts, seconds: (performance.now() - start) / 1000, more: more ?? "" });
    assert.ok(counts.requests > 0, "No request was sent");
    if (agent.name === "kubectl-mesh") assert.deepEqual(counts.failures.slice(0, 5), [], "Requests failed");
  });
}

/** The result of a fault. */
export interface Row {
  readonly counts?: Counts;
  readonly seconds: number;
  readonly more: string;
}

/** A row of the table in docs/reliability.md, as the name of a step: `deno test --quiet` shows nothing else. */
export async function printRow(
  t: Deno.TestContext,
  { agent, name }: Fault,
  { counts, seconds, more }: Row,
): Promise<void> {
  const { requests, failures, rotations: [a, b] } = counts ?? { requests: "", failures: [], rotations: ["", ""] };
  const counted = counts === undefined ? ["", "", ""] : [requests, failures.length, `${a} + ${b}`];
  await t.step(`| ${[name, agent.name, `${seconds.toFixed(0)} s`, ...counted, more].join(" | ")} |`, () => {});
}
