/**
 * Runs one case of `bench/linear/linear.ts` at one size in this process, and prints its cost as JSON. Run by that file.
 */
import process from "node:process";
import { MeshError } from "../../src/base/errors.ts";
import { CASES } from "./cases.ts";

/** What a run costs. */
export interface Cost {
  readonly length: number;
  /** Processor time in milliseconds. */
  readonly milliseconds: number;
  /** Peak resident memory above what the process had before, in megabytes. */
  readonly megabytes: number;
}

async function main([name, size]: readonly string[]): Promise<void> {
  const found = CASES.find((each) => each.name === name);
  if (found === undefined) throw new Error(`No case "${name}"`);
  // Code that has never run is slow: a small input first.
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

/** A clear error is an answer too. */
async function settled({ run }: { run(): unknown }): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
  }
}

/** Kilobytes (proc(5)). */
async function status(name: string): Promise<number> {
  const text = await Deno.readTextFile("/proc/self/status");
  return Number(new RegExp(`^${name}:\\s*(\\d+)`, "m").exec(text)?.[1]);
}

if (import.meta.main) await main(Deno.args);
