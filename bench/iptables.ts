/**
 * Measures whole processes of traffic capture in a new network namespace: a first apply for both families, a second
 * apply that finds everything in place (both through netlink and through programs), and a generate. Also counts the
 * programs that each starts. Needs root; the binary must be compiled. The peer is Istio's program, measured on a
 * similar machine. Exits with 1 if more programs are started than the limit; times depend on the machine and are only
 * printed.
 */
import { parseArgs } from "node:util";
import { againInNamespaces, print } from "./measure.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");
const BINARY = Deno.env.get("MESH_BINARY") ?? `${ROOT}/dist/kubectl-mesh`;
const FLAGS = [
  ...["-p", "15001", "-z", "15006", "-u", "1337", "-m", "REDIRECT", "-i", "*", "-x", "", "-b", "*"],
  ...["-d", "15090,15021,15020", "--dual-stack"],
];

interface Subject {
  readonly name: string;
  readonly args: readonly string[];
  /** A command that prepares the namespace for the run. */
  readonly before?: readonly string[];
  readonly mostPrograms: number;
  readonly peer: string;
}

/** A first and a second apply with these flags, and the maximum number of programs that each may start. */
function applies(how: string, flags: readonly string[], [first, second]: readonly [number, number]): Subject[] {
  const args = ["istio-iptables", ...FLAGS, ...flags];
  return [
    { name: `first apply, ${how}`, args, before: ["iptables", "clean"], mostPrograms: first, peer: "58-99 ms" },
    { name: `second apply, ${how}`, args, mostPrograms: second, peer: "28-41 ms" },
  ];
}

const SUBJECTS: readonly Subject[] = [
  ...applies("netlink", [], [0, 0]),
  ...applies("programs", ["--via", "programs"], [5, 2]),
  ...applies("nft, netlink", ["--backend", "nft"], [0, 0]),
  ...applies("nft, programs", ["--backend", "nft", "--via", "programs"], [5, 2]),
  { name: "generate", args: ["iptables", "generate", ...FLAGS], mostPrograms: 0, peer: "-" },
  { name: "version (start alone)", args: ["version"], mostPrograms: 0, peer: "-" },
];

const POD = "ip link set lo up && ip addr add 10.1.1.1/32 dev lo && ip -6 addr add fd00::7/128 dev lo nodad";

async function main(): Promise<number> {
  const { values } = parseArgs({
    args: Deno.args,
    options: { inside: { type: "boolean" }, runs: { type: "string", default: "15" } },
  });
  if (!values.inside) {
    return await againInNamespaces(`${ROOT}/bench/iptables.ts`, ["--inside", "--runs", values.runs], { script: POD });
  }
  print(`${"".padEnd(28)}${"median".padStart(8)}${"least".padStart(8)}   programs   peer\n`);
  const kept = [];
  for (const subject of SUBJECTS) kept.push(await measure(subject, Number(values.runs)));
  return kept.every((each) => each) ? 0 : 1;
}

async function measure(subject: Subject, runs: number): Promise<boolean> {
  const prepare = () => subject.before === undefined ? undefined : must([BINARY, ...subject.before]);
  const times: number[] = [];
  for (let run = -1; run < runs; run++) {
    await prepare();
    const start = performance.now();
    await must([BINARY, ...subject.args]);
    // The first run only warms the page cache.
    if (run >= 0) times.push(performance.now() - start);
  }
  await prepare();
  const programs = await countPrograms([BINARY, ...subject.args]);
  const [median, least] = [times.toSorted((a, b) => a - b)[Math.floor(runs / 2)] ?? NaN, Math.min(...times)];
  const count = programs === undefined ? "unknown (no strace)" : `${programs} of ${subject.mostPrograms}`;
  print(`${subject.name.padEnd(28)}${ms(median)}${ms(least)}   ${count.padEnd(9)}  ${subject.peer}\n`);
  return programs === undefined || programs <= subject.mostPrograms;
}

function ms(time: number): string {
  return time.toFixed(1).padStart(8);
}

/** Returns the number of programs that a command starts besides itself; `undefined` if strace is not installed. */
async function countPrograms(command: readonly string[]): Promise<number | undefined> {
  const trace = await Deno.makeTempFile();
  try {
    await must(["strace", "-f", "-qq", "-e", "trace=execve", "-e", "signal=none", "-o", trace, ...command]);
    const started = (await Deno.readTextFile(trace)).split("\n").filter((line) =>
      /execve\("/.test(line) && !/ENOENT/.test(line)
    );
    // The count includes the program itself.
    return started.length - 1;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  } finally {
    await Deno.remove(trace);
  }
}

async function must([program = "", ...args]: readonly string[]): Promise<void> {
  const options = { args, stdin: "null", stdout: "null", stderr: "piped" } as const;
  const { success, stderr } = await new Deno.Command(program, options).output();
  if (!success) throw new Error(`"${program} ${args.join(" ")}" failed: ${new TextDecoder().decode(stderr)}`);
}

Deno.exit(await main());
