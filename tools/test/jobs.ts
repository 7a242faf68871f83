/** Which test files there are, which run in one process, and in which order. */

/** The suites and their folders, as seen from the checkout. */
export const SUITES: Readonly<Record<string, readonly string[]>> = {
  unit: ["src", "test/house", "test/support", "tools"],
  golden: ["test/golden"],
  e2e: ["test/e2e", "test/oracle"],
};

/** One process of `deno test`. */
export interface Job {
  readonly suite: string;
  readonly files: readonly string[];
}

/** Files that are slow to end: they start first, so that a run does not wait for one of them at its end. */
const FIRST: readonly string[] = [];

/** Files that measure time or use what a machine has once: nothing runs beside them. */
const ALONE: readonly string[] = [];

/** Unit tests are quick: a process for each file would cost more than the tests in it. */
const FILES_OF_A_UNIT_JOB = 24;

/** The test files of a suite, sorted. */
export function filesOf(suite: string, root: string): string[] {
  return (SUITES[suite] ?? []).flatMap((folder) => testsBelow(root, folder)).sort();
}

function testsBelow(root: string, folder: string): string[] {
  try {
    return [...Deno.readDirSync(`${root}/${folder}`)].flatMap(({ name, isDirectory }) => {
      if (isDirectory) return testsBelow(root, `${folder}/${name}`);
      return name.endsWith("_test.ts") ? [`${folder}/${name}`] : [];
    });
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

/** Jobs that may run side by side, in the order of their start, and those that run alone after them. */
export function jobsOf(suite: string, files: readonly string[]): { beside: Job[]; alone: Job[] } {
  const size = suite === "unit" ? FILES_OF_A_UNIT_JOB : 1;
  const isAlone = (file: string) => ALONE.includes(file);
  const order = [...FIRST.filter((file) => files.includes(file)), ...files.filter((file) => !FIRST.includes(file))];
  return {
    beside: chunks(order.filter((file) => !isAlone(file)), size).map((files) => ({ suite, files })),
    alone: order.filter(isAlone).map((file) => ({ suite, files: [file] })),
  };
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
