/** What exit codes and reasons of containers mean. */
import type { SummaryContainer } from "./pod_summary_schema.ts";

type Role = SummaryContainer["role"];

const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL, an invalid instruction",
  6: "SIGABRT: it gave up by itself",
  7: "SIGBUS",
  8: "SIGFPE, a wrong calculation",
  9: "SIGKILL: it did not end in time, or used too much memory",
  11: "SIGSEGV: it crashed",
  13: "SIGPIPE",
  15: "SIGTERM, as it was asked to",
};

const CODES: Readonly<Record<number, string>> = {
  0: "it succeeded",
  1: "it failed",
  2: "its command line is wrong",
  125: "the container runtime could not start it",
  126: "its program cannot be executed",
  127: "its program does not exist in the image",
  255: "it failed, or was lost with its node",
};

/** Codes that mean something else for this role. Istio defines 126 for istio-init and istio-validation. */
const CODES_OF_ROLE: Readonly<Partial<Record<Role, Readonly<Record<number, string>>>>> = {
  capture: { 126: "the traffic is not captured" },
};

/** Reasons of the kubelet, which are more precise than the exit code. */
const REASONS: Readonly<Record<string, string>> = {
  OOMKilled: "killed: it used more memory than its limit",
  ContainerCannotRun: "the container runtime could not run it",
  StartError: "the container runtime could not start it",
  DeadlineExceeded: "the pod's deadline was over",
  Evicted: "the node evicted the pod",
};

/** `exit code 137: killed: it used more memory than its limit`. */
export function exitInWords(code: number, reason: string, role: Role): string {
  const signal = SIGNALS[code - 128];
  const text = REASONS[reason] ?? CODES_OF_ROLE[role]?.[code] ?? CODES[code] ??
    (signal === undefined ? "it failed" : `ended by ${signal}`);
  return `exit code ${code}: ${text}`;
}

/** What the reasons of waiting containers mean. */
const WAITING: Readonly<Record<string, string>> = {
  ContainerCreating: "is being created",
  PodInitializing: "waits for the init containers",
  CrashLoopBackOff: "ended again and again; the kubelet waits before the next start",
  ImagePullBackOff: "its image cannot be pulled",
  ErrImagePull: "its image cannot be pulled",
  InvalidImageName: "the name of its image is wrong",
  CreateContainerConfigError: "a ConfigMap, Secret or setting that it needs is missing",
  CreateContainerError: "the container runtime could not create it",
};

/** `waits: its image cannot be pulled (ErrImagePull)`. */
export function waitInWords(reason: string): string {
  const text = WAITING[reason];
  return text === undefined ? `waits: ${reason === "" ? "no reason is given" : reason}` : `waits: ${text} (${reason})`;
}

/** Whether the wait is part of a normal start. */
export function isBenignWait(reason: string): boolean {
  return reason === "ContainerCreating" || reason === "PodInitializing";
}
