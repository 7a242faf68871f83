/** The readiness of Envoy in stages. */
import { messageOf } from "../../../core/errors.ts";
import type { Admin } from "./admin.ts";
import { configProblem, isRejected, serverProblem, type Stats, workersProblem } from "./envoy_stats.ts";

/** What Envoy must have come through, in this order. */
export type Stage = "admin" | "config" | "running" | "server" | "workers" | "names";

/** A stage and how it stands; `problem` is `undefined` for one that was passed. */
export interface StageReport {
  readonly stage: Stage;
  readonly problem: string | undefined;
}

/** The stages up to the first that was not passed. */
export type Readiness = readonly StageReport[];

/** Tells whether Envoy is ready. */
export interface ReadinessProbe {
  check(): Promise<Readiness>;
  /** Envoy was started anew: nothing that was seen of the old one counts. */
  forget(): void;
}

/** What Envoy depends on besides itself. */
export interface Surroundings {
  /** Why Envoy may have got no configuration. */
  problems(): readonly string[];
  /** Why names of the mesh are not answered yet, if somebody asks for them. */
  nameProblem(): string | undefined;
}

/** What the probe looks at. */
export interface ProbeOptions {
  readonly surroundings?: Surroundings | undefined;
  /** `undefined` if there is no Envoy: then only `running` is a stage. */
  readonly admin: Admin | undefined;
  /** Why the agent ends; `undefined` while it does not. */
  readonly terminating: () => string | undefined;
}

/** What was seen once is so for the life of Envoy: that it still serves is seen by the probe travelling through it. */
interface Seen {
  config: boolean;
  live: boolean;
}

/** One check: the statistics that it has asked for. */
interface Check {
  readonly admin: Admin;
  readonly seen: Seen;
  readonly terminating: () => string | undefined;
  readonly surroundings: Surroundings | undefined;
  updates: Stats;
  state: Stats;
}

type Step = readonly [Stage, (check: Check) => string | undefined | Promise<string | undefined>];

const STEPS: readonly Step[] = [
  ["admin", async (check) => void (check.seen.config || (check.updates = await check.admin.stats("updates")))],
  ["config", async (check) => {
    if (check.seen.config) return undefined;
    const problem = configProblem(check.updates);
    check.seen.config = problem === undefined;
    return await explained(check, problem);
  }],
  ["running", (check) => runningProblem(check.terminating)],
  ["server", async (check) => {
    if (check.seen.live) return undefined;
    check.state = await check.admin.stats("state");
    return serverProblem(check.state);
  }],
  ["workers", (check) => check.seen.live ? undefined : workersProblem(check.state)],
  // The application's first question would get no answer.
  ["names", ({ surroundings }) => surroundings?.nameProblem()],
];

const ALL_PASSED = Promise.resolve(STEPS.map(([stage]): StageReport => ({ stage, problem: undefined })));

/** Makes the probe; checks that come while one is under way share it. */
export function readinessProbe({ admin, terminating, surroundings }: ProbeOptions): ReadinessProbe {
  let seen: Seen = { config: false, live: false };
  let current: Promise<Readiness> | undefined;
  async function run(): Promise<Readiness> {
    if (admin === undefined) return [{ stage: "running", problem: runningProblem(terminating) }];
    const check: Check = { admin, seen, terminating, surroundings, updates: new Map(), state: new Map() };
    const reports = await take(check);
    if (isReady(reports)) check.seen.live = true;
    return reports;
  }
  const isKnown = () => seen.config && seen.live && terminating() === undefined;
  return {
    // What is known is told without any work: probes come for as long as the pod lives.
    check: () => isKnown() ? ALL_PASSED : current ??= run().finally(() => current = undefined),
    forget() {
      seen = { config: false, live: false };
      current = undefined;
    },
  };
}

/** Whether all stages were passed. */
export function isReady(readiness: Readiness): boolean {
  return readiness.every(({ problem }) => problem === undefined);
}

async function take(check: Check): Promise<Readiness> {
  const reports: StageReport[] = [];
  for (const [stage, step] of STEPS) {
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

/** A problem with the reasons for which Envoy refused something. */
async function explained(check: Check, problem: string | undefined): Promise<string | undefined> {
  if (problem === undefined) return undefined;
  const refusals = isRejected(check.updates) ? await check.admin.refusals() : [];
  return [problem, ...refusals, ...check.surroundings?.problems() ?? []].join("; ");
}
