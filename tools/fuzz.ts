/**
 * Gives random inputs to the readers of untrusted input: `tools/deno task fuzz [READER ...] [-- --runs N --seed S
 * --from INDEX]`. Each input depends only on the seed and its index. Prints how many inputs are accepted, the slowest
 * input, and the memory used. If it finds a defect, it prints the smallest input that shows it, to add to
 * `test/fuzz/cases`, and exits with 1.
 */
import { parseArgs } from "node:util";
import { fuzz, type Outcome } from "../test/fuzz/fuzz.ts";
import { loadReader, READERS } from "../test/fuzz/readers.ts";

async function main(args: readonly string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args: args.filter((word) => word !== "--"),
    allowPositionals: true,
    options: {
      runs: { type: "string", default: "100000" },
      seed: { type: "string", default: String(crypto.getRandomValues(new Uint32Array(1))[0]) },
      from: { type: "string", default: "0" },
    },
  });
  const chosen = positionals.length === 0 ? READERS : positionals;
  await Promise.all(chosen.map(loadReader));
  const [seed, runs, from] = [values.seed, values.runs, values.from].map(Number);
  if (seed === undefined || runs === undefined || from === undefined) return 2;
  print(`seed ${seed}\n`);
  let status = 0;
  for (const name of chosen) {
    const start = performance.now();
    const outcome = await fuzz(name, { seed, runs, from });
    print(`${line(name, outcome, (performance.now() - start) / 1000)}\n`);
    if (outcome.defect !== undefined) status = 1;
  }
  return status;
}

function line(name: string, { runs, accepted, slowest, memory, defect }: Outcome, seconds: number): string {
  const head = name.padEnd(14);
  if (defect === undefined) {
    const share = `${(100 * accepted / runs).toFixed(0)}% accepted`;
    return `${head}${String(runs).padStart(8)} inputs  ${share.padStart(14)}  slowest ${slowest.toFixed(0)} ms  ${
      (memory / 1e6).toFixed(0)
    } MB  ${seconds.toFixed(0)} s`;
  }
  const shown = JSON.stringify(new TextDecoder().decode(defect.input));
  return `${head}DEFECT at index ${defect.index}: ${defect.text}\n  ${
    shown.slice(0, 2000)
  }\n  base64 ${defect.input.toBase64()}`;
}

function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

Deno.exit(await main(Deno.args));
