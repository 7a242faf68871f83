import assert from "node:assert/strict";
import { runJobs } from "./schedule.ts";

interface Named {
  readonly name: string;
  readonly needsCluster: boolean;
}

const job = (name: string): Named => ({ name, needsCluster: name.startsWith("c") });

/** Runs jobs that end on request: what runs at a time, after each end. */
async function watch(names: readonly string[], ends: readonly string[]) {
  const running = new Map<string, () => void>();
  const seen: string[] = [];
  const all = runJobs(names.map(job), { workers: 3, clusters: 1 }, async ({ name }) => {
    await new Promise<void>((resolve) => running.set(name, resolve));
    running.delete(name);
  });
  for (const name of ends) {
    await new Promise((resolve) => setTimeout(resolve));
    seen.push([...running.keys()].join(" "));
    running.get(name)?.();
  }
  await all;
  return seen;
}

Deno.test("runJobs() keeps the order, and passes over jobs that wait for a cluster", async () => {
  assert.deepEqual(await watch(["a", "b", "c1", "c2", "d"], ["a", "b", "d", "c1", "c2"]), [
    "a b c1",
    "b c1 d",
    "c1 d",
    "c1",
    "c2",
  ]);
});

Deno.test("runJobs() starts no job after the signal, and waits for those that run", async () => {
  const stop = new AbortController();
  const ended: string[] = [];
  await runJobs(["a", "b"].map(job), { workers: 1, clusters: 1, signal: stop.signal }, async ({ name }) => {
    stop.abort();
    await Promise.resolve();
    ended.push(name);
  });
  assert.deepEqual(ended, ["a"]);
});

Deno.test("runJobs() passes on the error of a job", async () => {
  const failing = () => Promise.reject(new Error("no program"));
  await assert.rejects(runJobs([job("a")], { workers: 1, clusters: 1 }, failing), /no program/);
});
