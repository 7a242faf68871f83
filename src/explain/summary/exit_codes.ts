/** Explains exit codes and reasons of containers. */
import type { SummaryContainer } from "./pod_summary_schema.ts";

type Role = SummaryContainer["role"];

const SIGNALS: Readonly<Record<number, string>> = {
  1: "SIGHUP",
  2: "SIGINT",
  3: "SIGQUIT",
  4: "SIGILL: invalid instruction",
  6: "SIGABRT: the program aborted",
  7: "SIGBUS",
  8: "SIGFPE: arithmetic error",
  9: "SIGKILL: it did not exit in time, or used too much memory",
  11: "SIGSEGV: it crashed",
  13: "SIGPIPE",
  15: "SIGTERM, as requested",
};

const CODES: Readonly<Record<number, string>> = {
  0: "it succeeded",
  1: "it failed",
  2: "its command line is invalid",
  125: "the container runtime could not start it",
  126: "its program cannot be executed",
  127: "its program does not exist in the image",
  255: "it failed, or its node was lost",
};

/** Codes with a special meaning in containers of one role. Istio defines 126 for istio-init and istio-validation. */
const CODES_OF_ROLE: Readonly<Partial<Record<Role, Readonly<Record<number, string>>>>> = {
  capture: { 126: "the traffic is not captured" },
};

/** Meanings of the kubelet's reasons, which are more precise than the exit code. */
const REASONS: Readonly<Record<string, string>> = {
  OOMKilled: "killed: it used more memory than its limit",
  ContainerCannotRun: "the container runtime could not run it",
  StartError: "the container runtime could not start it",
  DeadlineExceeded: "the pod's deadline expired",
  Evicted: "the node evicted the pod",
};

/** Describes an exit, such as `exit code 137: killed: it used more memory than its limit`. */
export function exitInWords(code: number, reason: string, role: Role): string {
  const signal = SIGNALS[code - 128];
  const text = REASONS[reason] ?? CODES_OF_ROLE[role]?.[code] ?? CODES[code] ??
    (signal === undefined ? "it failed" : `ended by ${signal}`);
  return `exit code ${code}: ${text}`;
}

const WAITING: Readonly<Record<string, string>> = {
  ContainerCreating: "is being created",
  PodInitializing: "the init containers have not finished",
  CrashLoopBackOff: "it exited repeatedly; the kubelet waits before the next start",
  ImagePullBackOff: "its image cannot be pulled",
  ErrImagePull: "its image cannot be pulled",
  InvalidImageName: "the name of its image is invalid",
  CreateContainerConfigError: "a required ConfigMap, Secret or setting is missing",
  CreateContainerError: "the container runtime could not create it",
};

/** Describes a wait, such as `waits: its image cannot be pulled (ErrImagePull)`. */
export function waitInWords(reason: string): string {
  const text = WAITING[reason];
  return text === undefined ? `waits: ${reason === "" ? "no reason is given" : reason}` : `waits: ${text} (${reason})`;
}

/** Whether the wait is part of a normal start. */
export function isBenignWait(reason: string): boolean {
  return reason === "ContainerCreating" || reason === "PodInitializing";
}
