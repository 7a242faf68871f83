import assert from "node:assert/strict";
import { addEndedProcess, stopLongTimers } from "./chance.ts";

Deno.test("the agent always finds a process that has ended, and one that has not", async () => {
  const deno = { readDir: Deno.readDir };
  addEndedProcess(deno);
  const names = (path: string) => Array.fromAsync(deno.readDir(path), ({ name }) => name);
  const processes = (await names("/proc")).filter((name) => /^\d+$/.test(name));
  const ended = await Promise.all(
    processes.map((name) => Deno.readTextFile(`/proc/${name}/stat`).then(() => false, () => true)),
  );
  assert.ok(ended.includes(true) && ended.includes(false));
  assert.ok(!(await names("/etc")).some((name) => /^\d+$/.test(name)));
});

Deno.test("a timer that only a slow machine would reach never ends a run; others do", () => {
  const ended: string[] = [];
  const start = (callback: string | (() => void), milliseconds = 0) => {
    if (milliseconds <= 60_000 && typeof callback === "function") callback();
    return 1;
  };
  const global = { setTimeout: start, setInterval: start };
  stopLongTimers(global);
  for (const name of ["setTimeout", "setInterval"] as const) {
    for (const milliseconds of [0, 4_999, 5_000, 10_000]) {
      global[name](() => void ended.push(`${name} ${milliseconds}`), milliseconds);
    }
  }
  assert.deepEqual(ended, ["setTimeout 0", "setTimeout 4999", "setInterval 0", "setInterval 4999"]);
});
