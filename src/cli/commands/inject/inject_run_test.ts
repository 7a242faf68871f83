import assert from "node:assert/strict";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import { ManualClock } from "../../../../test/support/manual_clock.ts";
import { main } from "../../mod.ts";

const KUBECONFIG = `apiVersion: v1
kind: Config
current-context: a
contexts: [{name: a, context: {cluster: a, user: a}}]
clusters: [{name: a, cluster: {server: "http://slow.test"}}]
users: [{name: a, user: {}}]
`;
const POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: one}\nspec: {containers: [{name: app, image: app}]}\n";

/** Runs `inject --from-cluster` for three seconds in which the API server does not answer; returns standard error until then. */
async function whileWaiting(terminal: boolean, ...more: readonly string[]): Promise<string> {
  const clock = new ManualClock(0);
  const [asked, answer] = [Promise.withResolvers<void>(), Promise.withResolvers<Response>()];
  const world = fakeWorld({
    args: ["inject", "-f", "pod.yaml", "--from-cluster", "--kubeconfig", "kubeconfig", ...more],
    files: { kubeconfig: KUBECONFIG, "pod.yaml": POD },
    terminal,
    request: () => {
      asked.resolve();
      return answer.promise;
    },
  });
  const running = main({ ...world, clock });
  await asked.promise;
  await clock.pass(3_000);
  const said = world.said.stderr;
  answer.resolve(Response.json({ message: "no" }, { status: 403 }));
  assert.equal(await running, 1);
  return said;
}

Deno.test("inject --from-cluster shows on a terminal for how long it waits for the API server", async () => {
  assert.match(await whileWaiting(true), /0 of 1 answer, 3s: the configuration of http:\/\/slow\.test$/);
});

Deno.test("inject --from-cluster shows no progress in a pipe or in a report for programs", async () => {
  assert.equal(await whileWaiting(false), "");
  assert.equal(await whileWaiting(true, "--report", "json"), "");
});
