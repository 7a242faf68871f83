/** Runs one case at one size in this process, and prints its cost as JSON. `bench/linear/linear.ts` starts it. */
import process from "node:process";
import { MeshError } from "../../src/base/errors.ts";
import { CASES } from "./cases.ts";

/** The cost of a run. */
export interface Cost {
  readonly length: number;
  /** Processor time in milliseconds. */
  readonly milliseconds: number;
  /** Peak resident memory, minus the memory before the run, in megabytes. */
  readonly megabytes: number;
}

async function main([name, size]: readonly string[]): Promise<void> {
  const found = CASES.find((each) => each.name === name);
  if (found === undefined) throw new Error(`No case "${name}"`);
  // A small input runs first, because code is slow the first time.
  await settled(await found.prepare(Math.max(1, Math.floor(found.size / 50))));
  const prepared = await found.prepare(Number(size));
  const before = await status("VmRSS");
  await Deno.writeTextFile("/proc/self/clear_refs", "5");
  const start = process.cpuUsage();
  await settled(prepared);
  const { user, system } = process.cpuUsage(start);
  const cost: Cost = {
    length: prepared.length,
    milliseconds: (user + system) / 1000,
    megabytes: Math.max(0, await status("VmHWM") - before) / 1024,
  };
  await Deno.stdout.write(new TextEncoder().encode(JSON.stringify(cost)));
}

/** Runs a case. Inputs may also be rejected with a clear error. */
async function settled({ run }: { run(): unknown }): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
  }
}

/** Returns a field of this process's status, in kilobytes (proc(5)). */
async function status(name: string): Promise<number> {
  const text = await Deno.readTextFile("/proc/self/status");
  return Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(text)?.[1]);
}

if (import.meta.main) await main(Deno.args);
