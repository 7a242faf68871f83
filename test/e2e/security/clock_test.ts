/**
 * The real-time clock moves forth and back by ten years under `wait` and `webhook serve`, which measure durations by
 * another clock. The agent: test/e2e/faults/agent_clock_test.ts; certificates:
 * src/webhook/certificates/self_managed_test.ts.
 */
import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { FakedClock, needsFakedClock } from "../faults/support/faked_clock.ts";
import { startWebhook } from "../support/webhook.ts";
import { standIn } from "../wait/support/server.ts";

const YEARS = 10 * 365 * 86_400;
const ROUNDS = 5;

/** Sets the clock forth, back and to the right time in turn, until the signal. */
async function setting(clock: FakedClock, signal: AbortSignal): Promise<void> {
  for (let round = 0; !signal.aborted; round++) {
    clock.set([YEARS, -YEARS, 0][round % 3] ?? 0);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  clock.set(0);
}

testWhen(
  needsFakedClock(),
  "wait polls on while the clock is set, and runs its command when the proxy is ready",
  async () => {
    await using clock = await FakedClock.create();
    let isReady = false;
    await using proxy = standIn(() => isReady ? 200 : 503);
    const [program = "", ...before] = clock.before;
    const args = [...before, MESH_COMMAND, "wait", "--url", proxy.url, "--timeout", "60s", "--", "echo", "it ran"];
    const child = new Deno.Command(program, { args, stdin: "null", stdout: "piped", stderr: "piped" }).spawn();
    const stop = new AbortController();
    const set = setting(clock, stop.signal);
    try {
      await until(() => proxy.requests.length >= ROUNDS);
      isReady = true;
      const { code, stdout, stderr } = await child.output();
      assert.deepEqual([code, new TextDecoder().decode(stdout)], [0, "it ran\n"], new TextDecoder().decode(stderr));
    } finally {
      stop.abort();
      await set;
    }
  },
);

testWhen(needsFakedClock(), "webhook serve keeps connections and answers while the clock is set", async () => {
  await using clock = await FakedClock.create();
  const webhook = await startWebhook({ before: clock.before });
  const stop = new AbortController();
  const set = setting(clock, stop.signal);
  using client = Deno.createHttpClient({ caCerts: [webhook.authority] });
  try {
    for (let round = 0; round < 20; round++) {
      const uid = `uid-${round}`;
      const object = { metadata: { name: "a", namespace: "b" }, spec: { containers: [{ name: "a", image: "a" }] } };
      const request = {
        uid,
        operation: "CREATE",
        namespace: "b",
        resource: { version: "v1", resource: "pods" },
        object,
      };
      const body = JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", request });
      const headers = { "content-type": "application/json" };
      const answer = await fetch(`https://localhost:${webhook.port}/inject`, { client, method: "POST", headers, body });
      const { response } = await answer.json();
      assert.deepEqual([answer.status, response.uid, response.allowed], [200, uid, true]);
      const healthy = await fetch(`http://127.0.0.1:${webhook.plainPort}/healthz`);
      await healthy.body?.cancel();
      assert.equal(healthy.status, 200);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  } finally {
    stop.abort();
    await set;
    assert.equal(await webhook.stop(), 0, webhook.log());
  }
});
