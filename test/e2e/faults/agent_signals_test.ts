/** SIGTERM at random moments of the agent's start and drain: it ends in time, with the right code, and leaves nothing. */
import assert from "node:assert/strict";
import { isLong, printFigure } from "../../support/long.ts";
import { testWhen } from "../../support/test_when.ts";
import { MeshPod, missing } from "../agent/support/mesh_pod.ts";
import { AgentProcess } from "./support/agent_process.ts";
import { type Random, randomOf, seedOfRun } from "./support/random.ts";

const ROUNDS = isLong() ? 150 : 5;
/** Agents at a time. */
const PODS = 3;
/** Covers the agent's start and Envoy's first seconds. */
const START_MILLISECONDS = 2500;
const DRAIN_MILLISECONDS = 1000;
/** Envoy exits within a second after SIGTERM, later on a busy machine, but before the grace period of 10 s. */
const LONGEST_END = DRAIN_MILLISECONDS + 8000;

const sleep = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** One round of a test. Resolves when the last signal is sent. */
type Round = (agent: AgentProcess, random: Random) => Promise<void>;

const ROUNDS_OF: Readonly<Record<string, Round>> = {
  "of its start": async (agent, random) => {
    await sleep(random() * START_MILLISECONDS);
    agent.signal("SIGTERM");
  },
  "of its drain": async (agent, random) => {
    await agent.until("Envoy (epoch 0) is live");
    await sleep(random() * 300);
    // The second signal ends the drain, the third one kills Envoy.
    for (let count = 1 + Math.floor(random() * 3); count > 0; count--) {
      agent.signal("SIGTERM");
      await sleep(random() * DRAIN_MILLISECONDS);
    }
  },
};

for (const [when, round] of Object.entries(ROUNDS_OF)) {
  testWhen(
    missing,
    `the agent after SIGTERM at ${ROUNDS} random moments ${when}: ends in time, with the right code, and leaves nothing`,
    async () => {
      const seed = seedOfRun();
      const random = randomOf(seed);
      const rounds = Array.from({ length: ROUNDS }, () => randomOf(random() * 2 ** 32));
      const ends: Record<string, number> = {};
      let longest = 0;
      await Promise.all(Array.from({ length: PODS }, async () => {
        await using pod = await MeshPod.create();
        await Deno.mkdir(`${pod.folder}/tmp`, { mode: 0o777 });
        await Deno.chmod(`${pod.folder}/tmp`, 0o1777);
        for (let own = rounds.pop(); own !== undefined; own = rounds.pop()) {
          const { code, milliseconds, isLive } = await ended(pod, round, own, seed);
          longest = Math.max(longest, milliseconds);
          const kind = `${isLive ? "live" : "not live"}: ${code}`;
          ends[kind] = (ends[kind] ?? 0) + 1;
        }
      }));
      printFigure(`seed ${seed}: ${JSON.stringify(ends)}, longest end ${Math.round(longest)} ms`);
    },
  );
}

async function ended(pod: MeshPod, round: Round, random: Random, seed: number) {
  const env = {
    ...pod.env({ terminationDrainDuration: `${DRAIN_MILLISECONDS / 1000}s` }),
    TMPDIR: `${pod.folder}/tmp`,
  };
  await using agent = new AgentProcess(pod, { env });
  await round(agent, random);
  const { code, milliseconds } = await agent.end;
  const story = `seed ${seed}:\n${agent.text}`;
  const isLive = /is live\n[^]*SIGTERM: /.test(agent.text);
  assert.equal(code, isLive ? 0 : 143, story);
  assert.ok(milliseconds < LONGEST_END, `${milliseconds} ms, ${story}`);
  assert.deepEqual(agent.processes(), [], story);
  for (const folder of ["etc/istio/proxy", "tmp"]) {
    assert.deepEqual(await Array.fromAsync(Deno.readDir(`${pod.folder}/${folder}`)), [], story);
  }
  return { code, milliseconds, isLive };
}
