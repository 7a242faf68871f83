/** Checks Envoy's readiness in stages. */
import { messageOf } from "../../../base/errors.ts";
import type { Admin } from "./admin.ts";
import { configProblem, isRejected, serverProblem, type Stats, workersProblem } from "../../../istio/envoy_stats.ts";

export type Stage = "admin" | "config" | "running" | "server" | "workers" | "names" | "grpc";

export interface StageReport {
  readonly stage: Stage;
  readonly problem: string | undefined;
}

/** The results of all stages up to the first failed stage. */
export type Readiness = readonly StageReport[];

export type ReadinessProbe = ReturnType<typeof readinessProbe>;

export interface ControlPlaneProblems {
  problems(): readonly string[];
  /** Returns why DNS has no names yet; `undefined` if DNS has names, or is not served. */
  nameProblem(): string | undefined;
  /** Resolves with the reason why an application that speaks xDS itself cannot start yet, or `undefined`. */
  grpcProblem(): Promise<string | undefined>;
}

export interface ProbeOptions {
  readonly controlPlane?: (() => ControlPlaneProblems | undefined) | undefined;
  /** `undefined` without Envoy; then, `running` and `grpc` are the only stages. */
  readonly admin: Admin | undefined;
  readonly terminating: () => string | undefined;
}

/**
 * Results that are not checked again during Envoy's lifetime. The kubelet's probes go through Envoy, so a probe that
 * arrives proves that Envoy still serves.
 */
interface Seen {
  config: boolean;
  live: boolean;
}

interface Check {
  readonly admin: Admin | undefined;
  readonly seen: Seen;
  readonly terminating: () => string | undefined;
  readonly controlPlane: (() => ControlPlaneProblems | undefined) | undefined;
  updates: Stats;
  state: Stats;
}

type Step = readonly [Stage, (check: Check) => string | undefined | Promise<string | undefined>];

const RUNNING: Step = ["running", (check) => runningProblem(check.terminating)];
const GRPC: Step = ["grpc", async ({ controlPlane }) => {
  if (controlPlane === undefined) return undefined;
  const plane = controlPlane();
  if (plane === undefined) return "the agent is starting";
  const problem = await plane.grpcProblem();
  return problem === undefined ? undefined : [problem, ...plane.problems()].join("; ");
}];

const WITHOUT_ENVOY: readonly Step[] = [RUNNING, GRPC];

const STEPS: readonly Step[] = [
  ["admin", async (check) => void (check.seen.config || (check.updates = await statsOf(check, "updates")))],
  ["config", async (check) => {
    if (check.seen.config) return undefined;
    const problem = configProblem(check.updates);
    check.seen.config = problem === undefined;
    return await explained(check, problem);
  }],
  RUNNING,
  ["server", async (check) => {
    if (check.seen.live) return undefined;
    check.state = await statsOf(check, "state");
    return serverProblem(check.state);
  }],
  ["workers", (check) => check.seen.live ? undefined : workersProblem(check.state)],
  // Without this stage, the application's first lookup could fail.
  ["names", ({ controlPlane }) => controlPlane?.()?.nameProblem()],
  GRPC,
];

async function statsOf({ admin }: Check, query: Parameters<Admin["stats"]>[0]): Promise<Stats> {
  return await admin?.stats(query) ?? new Map();
}

const ALL_PASSED = Promise.resolve(STEPS.map(([stage]): StageReport => ({ stage, problem: undefined })));

/** Returns the readiness probe. Concurrent checks share one run. */
export function readinessProbe({ admin, terminating, controlPlane }: ProbeOptions) {
  let seen: Seen = { config: false, live: false };
  let current: Promise<Readiness> | undefined;
  async function run(): Promise<Readiness> {
    const check: Check = { admin, seen, terminating, controlPlane, updates: new Map(), state: new Map() };
    const reports = await runStages(admin === undefined ? WITHOUT_ENVOY : STEPS, check);
    if (admin !== undefined && isReady(reports)) check.seen.live = true;
    return reports;
  }
  const isKnown = () => seen.config && seen.live && terminating() === undefined;
  return {
    // A known result avoids repeated work, because probes continue for the pod's lifetime.
    check: (): Promise<Readiness> => isKnown() ? ALL_PASSED : current ??= run().finally(() => current = undefined),
    forget(): void {
      seen = { config: false, live: false };
      current = undefined;
    },
  };
}

/** Whether all stages passed. */
export function isReady(readiness: Readiness): boolean {
  return readiness.every(({ problem }) => problem === undefined);
}

async function runStages(steps: readonly Step[], check: Check): Promise<Readiness> {
  const reports: StageReport[] = [];
  for (const [stage, step] of steps) {
    const problem = await attempt(step, check);
    reports.push({ stage, problem });
    if (problem !== undefined) break;
  }
  return reports;
}

async function attempt(step: Step[1], check: Check): Promise<string | undefined> {
  try {
    return await step(check);
  } catch (error) {
    return messageOf(error);
  }
}

function runningProblem(terminating: () => string | undefined): string | undefined {
  const cause = terminating();
  return cause === undefined ? undefined : `server is terminated: ${cause}`;
}

async function explained(check: Check, problem: string | undefined): Promise<string | undefined> {
  if (problem === undefined) return undefined;
  const refusals = isRejected(check.updates) ? await check.admin?.refusals() ?? [] : [];
  return [problem, ...refusals, ...check.controlPlane?.()?.problems() ?? []].join("; ");
}
