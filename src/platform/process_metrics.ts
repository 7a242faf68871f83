/** The `process_*` metrics of Prometheus' client libraries, from /proc (proc(5)). */
import type { World } from "./world.ts";
import type { Family, Sample } from "../base/metrics/mod.ts";

/** Clock ticks per second: USER_HZ, which is 100 on every Linux architecture (sysconf(3)). */
const TICKS = 100;
const SMALL = 65_536;

/** Returns the metrics of this process, without samples if /proc is not available. */
export async function processMetrics({ files }: Pick<World, "files">): Promise<readonly Family[]> {
  const read = (path: string) => files.readText(path, SMALL).catch(() => "");
  const [stat, status, limits, machine] = await Promise.all([
    read("/proc/self/stat"),
    read("/proc/self/status"),
    read("/proc/self/limits"),
    files.readText("/proc/stat").catch(() => ""),
  ]);
  const descriptors = await files.list("/proc/self/fd").then((list) => list.length || undefined, () => undefined);
  return METRICS.map(({ name, help, type, value }) => {
    const number = value({ stat: fieldsOf(stat), status, limits, machine, descriptors });
    const samples: Sample[] = number === undefined || Number.isNaN(number) ? [] : [{ value: number }];
    return { name, help, type, samples };
  });
}

/** Contents of the files in /proc. */
interface ProcFiles {
  /** Fields of /proc/self/stat, by the numbers of proc(5). */
  readonly stat: readonly number[];
  readonly status: string;
  readonly limits: string;
  readonly machine: string;
  readonly descriptors: number | undefined;
}

interface Metric extends Pick<Family, "name" | "help" | "type"> {
  readonly value: (files: ProcFiles) => number | undefined;
}

const METRICS: readonly Metric[] = [
  {
    name: "process_cpu_seconds_total",
    help: "Total user and system CPU time spent in seconds.",
    type: "counter",
    value: ({ stat }) => sum(stat[14], stat[15]) / TICKS,
  },
  {
    name: "process_resident_memory_bytes",
    help: "Resident memory size in bytes.",
    type: "gauge",
    value: ({ status }) => numberIn(status, /^VmRSS:\s+(\d+) kB/m, 1024),
  },
  {
    name: "process_virtual_memory_bytes",
    help: "Virtual memory size in bytes.",
    type: "gauge",
    value: ({ stat }) => stat[23],
  },
  {
    name: "process_virtual_memory_max_bytes",
    help: "Maximum amount of virtual memory available in bytes.",
    type: "gauge",
    value: ({ limits }) => limitIn(limits, /^Max address space\s+(\d+|unlimited)/m),
  },
  {
    name: "process_open_fds",
    help: "Number of open file descriptors.",
    type: "gauge",
    value: ({ descriptors }) => descriptors,
  },
  {
    name: "process_max_fds",
    help: "Maximum number of open file descriptors.",
    type: "gauge",
    value: ({ limits }) => limitIn(limits, /^Max open files\s+(\d+|unlimited)/m),
  },
  {
    name: "process_threads",
    help: "Number of threads of the process.",
    type: "gauge",
    value: ({ stat }) => stat[20],
  },
  {
    name: "process_start_time_seconds",
    help: "Start time of the process since unix epoch in seconds.",
    type: "gauge",
    value: ({ stat, machine }) => sum(numberIn(machine, /^btime (\d+)$/m), divided(stat[22])),
  },
];

/** Splits the fields of /proc/self/stat. The second field, the program name, may contain spaces and parentheses. */
function fieldsOf(stat: string): number[] {
  const rest = stat.slice(stat.lastIndexOf(")") + 1).trim().split(" ");
  return [NaN, NaN, NaN, ...rest.map(Number)];
}

function sum(a: number | undefined, b: number | undefined): number {
  return (a ?? NaN) + (b ?? NaN);
}

function divided(ticks: number | undefined): number | undefined {
  return ticks === undefined ? undefined : ticks / TICKS;
}

function numberIn(text: string, pattern: RegExp, unit = 1): number | undefined {
  const found = pattern.exec(text)?.[1];
  return found === undefined ? undefined : Number(found) * unit;
}

/** Returns the soft limit; for "unlimited", the largest number, as Prometheus' Go client does. */
function limitIn(limits: string, line: RegExp): number | undefined {
  const found = line.exec(limits)?.[1];
  return found === undefined ? undefined : found === "unlimited" ? 2 ** 64 : Number(found);
}
