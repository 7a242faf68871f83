/** Finds the test files, and decides which of them share a process and in which order they run. */
import { loadedWith } from "../../test/house/reached.ts";

/** The suites, with their folders in the checkout. */
export const SUITES: Readonly<Record<string, readonly string[]>> = {
  unit: ["src", "test/house", "test/support", "test/versions", "test/fuzz", "tools"],
  golden: ["test/golden"],
  e2e: ["test/e2e", "test/oracle"],
};

/** Names for groups of suites. */
export const GROUPS: Readonly<Record<string, readonly string[]>> = { quick: ["unit", "golden"] };

/** One process of `deno test`. */
export interface Job {
  readonly suite: string;
  readonly files: readonly string[];
  /**
   * Whether the files are imported by one module, so that their common imports are loaded only once. Otherwise each
   * file loads its own modules.
   */
  readonly joined: boolean;
  /** Whether the job needs a cluster from the pool. */
  readonly needsCluster: boolean;
}

/** The slowest files, longest first. They start first so that a run does not wait for one of them at its end. */
export const FIRST: readonly string[] = [
  "test/e2e/check/heals_test.ts",
  "test/e2e/check/heals_others_test.ts",
  "test/e2e/mesh/trust_test.ts",
  "test/e2e/webhook/replicas_test.ts",
  "test/e2e/mesh/shapes_test.ts",
  "test/e2e/webhook/manifests_test.ts",
  "test/e2e/explain/live_test.ts",
  "test/e2e/identity/renewal_test.ts",
  "test/e2e/mesh/istiod_test.ts",
  "test/e2e/mesh/upgrade_test.ts",
  "test/e2e/mesh/release_test.ts",
  "test/e2e/demo_test.ts",
  "test/e2e/mesh/mounts_test.ts",
  "test/e2e/webhook/certificates_test.ts",
  "test/e2e/cni/install_test.ts",
  "test/oracle/inject/inject_test.ts",
  "test/e2e/inject/patch_test.ts",
  "test/e2e/security/hostile_api_server_test.ts",
  "test/e2e/iptables/all_or_nothing_test.ts",
  "test/e2e/inject/sources_test.ts",
  "test/e2e/faults/agent_clock_test.ts",
  "test/e2e/security/slow_api_server_test.ts",
  "test/e2e/mesh/gateway_test.ts",
  "test/e2e/install/packages_test.ts",
  "test/e2e/install/krew_test.ts",
  "test/e2e/toolchain_test.ts",
  "test/e2e/check/servers_test.ts",
  "test/e2e/check/injection_heals_test.ts",
  "test/e2e/check/cluster_test.ts",
  "test/e2e/iptables/converge_test.ts",
  "test/e2e/faults/iptables_kill_test.ts",
  "test/e2e/iptables/verify_test.ts",
  "test/e2e/site_test.ts",
];

/**
 * Files that take four to fifteen seconds of processor time each, together half of the time of the end-to-end tests. A
 * run of all suites leaves them out. They run when their suite, folder or file is named, and with a compiled binary, as
 * CI does once.
 */
export const HEAVY: readonly string[] = [
  "test/e2e/agent/start_test.ts",
  "test/e2e/check/heals_others_test.ts",
  "test/e2e/check/injection_heals_test.ts",
  "test/e2e/check/match_conditions_test.ts",
  "test/e2e/check/signals_test.ts",
  "test/e2e/check/trust_test.ts",
  "test/e2e/cni/install_test.ts",
  "test/e2e/cni/repair_test.ts",
  "test/e2e/explain/live_test.ts",
  "test/e2e/faults/agent_clock_test.ts",
  "test/e2e/faults/agent_envoy_test.ts",
  "test/e2e/faults/agent_machine_test.ts",
  "test/e2e/faults/iptables_kill_test.ts",
  "test/e2e/faults/iptables_memory_test.ts",
  "test/e2e/identity/mutual_tls_test.ts",
  "test/e2e/identity/name_table_test.ts",
  "test/e2e/identity/renewal_test.ts",
  "test/e2e/identity/start_problems_test.ts",
  "test/e2e/inject/ends_test.ts",
  "test/e2e/iptables/all_or_nothing_test.ts",
  "test/e2e/iptables/clean_test.ts",
  "test/e2e/iptables/detection_test.ts",
  "test/e2e/iptables/transition_test.ts",
  "test/e2e/iptables/verify_test.ts",
  "test/e2e/kube/versions_test.ts",
  "test/e2e/mesh/istiod_test.ts",
  "test/e2e/mesh/mounts_test.ts",
  "test/e2e/mesh/release_test.ts",
  "test/e2e/mesh/trust_test.ts",
  "test/e2e/mesh/upgrade_test.ts",
  "test/e2e/security/hostile_api_server_test.ts",
  "test/e2e/security/run_time_test.ts",
  "test/e2e/security/slow_api_server_test.ts",
  "test/e2e/security/webhook_attacks_test.ts",
  "test/e2e/webhook/cases_test.ts",
  "test/e2e/webhook/certificates_test.ts",
  "test/e2e/webhook/manifests_test.ts",
  "test/e2e/webhook/replicas_test.ts",
];

/** Files that limit the response time. They start after all other files, and run alone on the machine. */
export const ALONE: readonly string[] = ["test/e2e/security/webhook_attacks_test.ts"];

/**
 * Unit tests are quick: it takes longer to load the modules of a file than to run its tests, so many files share one
 * process.
 */
const FILES_OF_A_UNIT_JOB = 45;

/** Returns the test files of a suite, sorted. */
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

/** Splits the files of a suite into jobs. */
export function jobsOf(suite: string, files: readonly string[], root: string): Job[] {
  if (suite === "unit") return unitJobs(files, root);
  return files.map((file) => ({ suite, files: [file], joined: false, needsCluster: usesPool(root, file) }));
}

/** Returns the jobs for the long form of files, one process each. Files without a long form are left out. */
export function longJobsOf(suite: string, files: readonly string[], root: string): Job[] {
  return files.filter(hasLongForm).map((file) => ({
    suite,
    files: [file],
    joined: false,
    needsCluster: usesPool(root, file),
  }));
}

/**
 * Sorts jobs into starting order: the slowest files, then unit tests (many wait for timers while others compute), then
 * the rest. The last jobs are short, so that at the end all processors are busy.
 */
export function inOrder(jobs: readonly Job[]): Job[] {
  const rank = ({ files: [file = ""], suite }: Job) => {
    const slow = FIRST.indexOf(file);
    return slow >= 0 ? slow : FIRST.length + (suite === "unit" ? 0 : 1);
  };
  return jobs.toSorted((a, b) => rank(a) - rank(b));
}

function unitJobs(files: readonly string[], root: string): Job[] {
  const { alone = [], apart = [], together = [] } = Object.groupBy(
    files,
    (file) => measuresMemory(file) ? "alone" : leavesTraces(root, file) ? "apart" : "together",
  );
  const job = (files: readonly string[], joined: boolean) => ({ suite: "unit", files, joined, needsCluster: false });
  return [
    ...alone.map((file) => job([file], false)),
    ...chunks(apart, FILES_OF_A_UNIT_JOB).map((files) => job(files, false)),
    ...chunks(together, FILES_OF_A_UNIT_JOB).map((files) => job(files, true)),
  ];
}

/** Fuzzing tests measure the memory of their process, so they do not share it with other tests. */
function measuresMemory(file: string): boolean {
  return loadedWith(file).has("test/fuzz/fuzz.ts");
}

/** These tests may leave resources open, which would be closed during a test of the next file. */
function leavesTraces(root: string, file: string): boolean {
  return /\bsanitize(Ops|Resources|Exit)\b/.test(Deno.readTextFileSync(`${root}/${file}`));
}

/** Tests that use a cluster call this function to get the reason for a skip. */
function usesPool(root: string, file: string): boolean {
  const text = Deno.readTextFileSync(`${root}/${file}`);
  return /\bneedsCluster\b/.test(text) && !/\bstartOwnCluster\b/.test(text);
}

/** Whether tests run the program as a process, not only its functions. Tests that do import this module. */
export function runsProgram(file: string): boolean {
  return loadedWith(file).has("test/support/programs/mesh.ts");
}

/** Whether tests have a long form. Tests that do import this module. */
export function hasLongForm(file: string): boolean {
  return loadedWith(file).has("test/support/long.ts");
}

function chunks<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}
