import assert from "node:assert/strict";
import type { Admin } from "./admin.ts";
import { isReady, readinessProbe } from "./probe.ts";

const CONFIG = [["cluster_manager.cds.update_success", 1], ["listener_manager.lds.update_success", 1]] as const;
const LIVE = [["server.state", 0], ["listener_manager.workers_started", 1]] as const;

/** An admin interface that answers with what `stats` holds, and counts. */
function scripted(stats: Map<string, number>, refusals: readonly string[] = []) {
  const asked: string[] = [];
  const admin: Admin = {
    stats(query) {
      asked.push(query);
      return Promise.resolve(stats);
    },
    refusals: () => Promise.resolve(refusals),
  };
  return { admin, asked };
}

Deno.test("check(): each success is fetched once in Envoy's life", async () => {
  const stats = new Map<string, number>();
  const { admin, asked } = scripted(stats);
  const probe = readinessProbe({ admin, terminating: () => undefined });
  assert.equal(isReady(await probe.check()), false);
  for (const [name, value] of CONFIG) stats.set(name, value);
  assert.equal((await probe.check()).at(-1)?.stage, "server");
  for (const [name, value] of LIVE) stats.set(name, value);
  assert.equal(isReady(await probe.check()), true);
  stats.clear();
  assert.equal(isReady(await probe.check()), true);
  assert.deepEqual(asked, ["updates", "updates", "state", "state"]);
  probe.forget();
  assert.equal(isReady(await probe.check()), false);
});

Deno.test("check(): workers follow the server", async () => {
  const stats = new Map<string, number>([...CONFIG, ["server.state", 0], ["listener_manager.workers_started", 0]]);
  const probe = readinessProbe({ admin: scripted(stats).admin, terminating: () => undefined });
  const stages = (await probe.check()).map(({ stage, problem }) => `${stage}: ${problem ?? "ok"}`);
  assert.deepEqual(stages, [
    "admin: ok",
    "config: ok",
    "running: ok",
    "server: ok",
    "workers: workers have not yet started",
  ]);
});

Deno.test("check(): concurrent checks share one request", async () => {
  const { admin, asked } = scripted(new Map([...CONFIG, ...LIVE]));
  const probe = readinessProbe({ admin, terminating: () => undefined });
  const answers = await Promise.all([probe.check(), probe.check(), probe.check()]);
  assert.equal(answers.every(isReady), true);
  assert.deepEqual(asked, ["updates", "state"]);
});

Deno.test("check(): a rejected configuration has Envoy's reasons", async () => {
  const stats = new Map([["cluster_manager.cds.update_success", 1], ["listener_manager.lds.update_rejected", 1]]);
  const { admin } = scripted(stats, ['"web": no filter chain']);
  const reports = await readinessProbe({ admin, terminating: () => undefined }).check();
  assert.match(reports.at(-1)?.problem ?? "", /but was rejected: .*; "web": no filter chain$/);
});

Deno.test("check(): reports missing configuration first, then a shutdown, then Envoy's state", async () => {
  const terminating = () => "received signal: terminated";
  const missing = await readinessProbe({ admin: scripted(new Map()).admin, terminating }).check();
  assert.equal(missing.at(-1)?.stage, "config");
  const { admin, asked } = scripted(new Map(CONFIG));
  const ended = await readinessProbe({ admin, terminating }).check();
  assert.deepEqual(ended.at(-1), { stage: "running", problem: "server is terminated: received signal: terminated" });
  assert.deepEqual(asked, ["updates"]);
});

Deno.test("check(): without Envoy, only the stages running and grpc", async () => {
  let problem: string | undefined = "no certificate";
  const plane = {
    problems: () => ["CA: refused"],
    nameProblem: () => undefined,
    grpcProblem: () => Promise.resolve(problem),
  };
  const started: { plane?: typeof plane } = {};
  const controlPlane = () => started.plane;
  const probe = readinessProbe({ admin: undefined, terminating: () => undefined, controlPlane });
  const last = async () => (await probe.check()).at(-1);
  assert.deepEqual(await last(), { stage: "grpc", problem: "the agent is starting" });
  started.plane = plane;
  assert.deepEqual(await last(), { stage: "grpc", problem: "no certificate; CA: refused" });
  problem = undefined;
  assert.equal(isReady(await probe.check()), true);
  problem = "gone";
  assert.equal(isReady(await probe.check()), false);
});

Deno.test("check(): a failing admin interface is the first stage", async () => {
  const admin: Admin = { stats: () => Promise.reject(new Error("refused")), refusals: () => Promise.resolve([]) };
  assert.deepEqual(await readinessProbe({ admin, terminating: () => undefined }).check(), [
    { stage: "admin", problem: "refused" },
  ]);
});
