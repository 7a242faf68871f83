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
  return METRICS.map(([name, type, help, value]) => {
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

type Metric = readonly [
  name: string,
  type: Family["type"],
  help: string,
  value: (files: ProcFiles) => number | undefined,
];

const METRICS: readonly Metric[] = [
  [
    "process_cpu_seconds_total",
    "counter",
    "Total user and system CPU time spent in seconds.",
    ({ stat }) => sum(stat[14], stat[15]) / TICKS,
  ],
  [
    "process_resident_memory_bytes",
    "gauge",
    "Resident memory size in bytes.",
    ({ status }) => numberIn(status, /^VmRSS:\s+(\d+) kB/m, 1024),
  ],
  ["process_virtual_memory_bytes", "gauge", "Virtual memory size in bytes.", ({ stat }) => stat[23]],
  [
    "process_virtual_memory_max_bytes",
    "gauge",
    "Maximum amount of virtual memory available in bytes.",
    ({ limits }) => limitIn(limits, /^Max address space\s+(\d+|unlimited)/m),
  ],
  ["process_open_fds", "gauge", "Number of open file descriptors.", ({ descriptors }) => descriptors],
  [
    "process_max_fds",
    "gauge",
    "Maximum number of open file descriptors.",
    ({ limits }) => limitIn(limits, /^Max open files\s+(\d+|unlimited)/m),
  ],
  ["process_threads", "gauge", "Number of threads of the process.", ({ stat }) => stat[20]],
  [
    "process_start_time_seconds",
    "gauge",
    "Start time of the process since unix epoch in seconds.",
    ({ stat, machine }) => sum(numberIn(machine, /^btime (\d+)$/m), (stat[22] ?? NaN) / TICKS),
  ],
];

/** Splits the fields of /proc/self/stat. The second field, the program name, may contain spaces and parentheses. */
function fieldsOf(stat: string): number[] {
  const rest = stat.slice(stat.lastIndexOf(")") + 1).trim().split(" ");
  return [NaN, NaN, NaN, ...rest.map(Number)];
}

function sum(a: number | undefined, b: number | undefined): number {
  return (a ?? NaN) + (b ?? NaN);
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
