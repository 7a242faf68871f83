/**
 * Measures the processor time per response of the DNS server, and the responses per second, with 1 and with 64 queries
 * in flight. For comparison, it also measures a server in Go that looks nothing up, the minimum with Go's sockets. The
 * servers run in turn, `--runs` times. Needs Go. `--base FOLDER` adds the server of a second checkout; `--pilot` adds
 * the server of pilot-agent, which is built from Istio's module.
 */
import { parseArgs } from "node:util";
import { goProgram } from "../../test/support/programs/go_program.ts";
import { column, median, print, processorTime, resident } from "../measure.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");
const SECONDS = 2;
const HOSTS = 1000;
const AT_ONCE = [1, 64];

/** The flags of the agent's binary. */
const V8_FLAGS = "--v8-flags=--lite-mode,--max-semi-space-size=1";

/** The server with a table of a thousand hosts; says its port. */
const SERVER = `
import { dnsServer, external } from "./test/support/dns/server.ts";
const hosts = Object.fromEntries(Array.from({ length: ${HOSTS} }, (_, at) => ["host-" + at + ".example.com", external("10.0.0." + at % 256)]));
console.log((await dnsServer({ table: hosts })).port);
`;

interface Subject {
  readonly name: string;
  readonly cwd: string;
  readonly command: readonly string[];
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    args: Deno.args,
    options: {
      runs: { type: "string", default: "3" },
      base: { type: "string" },
      pilot: { type: "boolean", default: false },
      "v8-flags": { type: "string" },
    },
  });
  const peer = await goProgram("bench/agent/dns_peer");
  const flags = values["v8-flags"] === undefined ? V8_FLAGS : `--v8-flags=${values["v8-flags"]}`;
  const pilot = values.pilot ? [await goProgram("test/oracle/pilot_agent", "./dns"), String(HOSTS)] : undefined;
  const ours = [Deno.execPath(), "eval", "--quiet", flags, SERVER];
  const subjects: Subject[] = [
    { name: "this checkout", cwd: ROOT, command: ours },
    ...values.base === undefined ? [] : [{ name: "base", cwd: values.base, command: ours }],
    ...pilot === undefined ? [] : [{ name: "pilot-agent", cwd: ROOT, command: pilot }],
    { name: "bare server in Go", cwd: ROOT, command: [peer, "serve"] },
  ];
  print(`${"".padEnd(34)}   us each       least       most answers/s       MB\n`);
  for (const atOnce of AT_ONCE) {
    const measures = subjects.map((): Measure[] => []);
    for (let run = 0; run < Number(values.runs); run++) {
      for (const [index, subject] of subjects.entries()) measures[index]?.push(await measure(subject, peer, atOnce));
    }
    subjects.forEach(({ name }, index) => report(`${name}, ${atOnce} at once`, measures[index] ?? []));
  }
}

interface Measure {
  readonly microseconds: number;
  readonly rate: number;
  readonly megabytes: number;
}

async function measure({ cwd, command: [program = "", ...args] }: Subject, peer: string, atOnce: number) {
  const child = new Deno.Command(program, { cwd, args, stdin: "null", stdout: "piped" }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const port = String((await lines.read()).value).trim();
  // The first responses make V8 compile the code that they need.
  await ask(peer, port, 1, atOnce);
  const before = await processorTime(child.pid);
  const answers = await ask(peer, port, SECONDS, atOnce);
  const used = await processorTime(child.pid) - before;
  const megabytes = await resident(child.pid);
  child.kill("SIGKILL");
  await lines.cancel();
  await child.status;
  return { microseconds: used * 1000 / answers, rate: answers / SECONDS, megabytes };
}

/** Sends queries for some seconds and returns the number of responses. */
async function ask(peer: string, port: string, seconds: number, atOnce: number): Promise<number> {
  const args = ["ask", port, String(seconds), String(atOnce), String(HOSTS)];
  const { success, stdout } = await new Deno.Command(peer, { args, stderr: "inherit" }).output();
  if (!success) throw new Error("The server did not answer");
  return Number(new TextDecoder().decode(stdout));
}

function report(name: string, measures: readonly Measure[]): void {
  const times = measures.map(({ microseconds }) => microseconds);
  const numbers = [median(times), Math.min(...times), Math.max(...times)];
  const others = [median(measures.map(({ rate }) => rate)), median(measures.map(({ megabytes }) => megabytes))];
  print(`${name.padEnd(34)}${[...numbers, ...others].map(column).join("  ")}\n`);
}

await main();
