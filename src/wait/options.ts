/** What to wait for, how long, and what then. Times are milliseconds. */
export interface WaitOptions {
  /** All of them must have answered 200. */
  readonly urls: readonly string[];
  /** After so long it is over; 0 asks once. */
  readonly timeout: number;
  /** The longest pause between two questions. */
  readonly period: number;
  /** How long one question may take. */
  readonly requestTimeout: number;
  /** Whether a time-out is the end, or the command runs all the same. */
  readonly onTimeout: "fail" | "continue";
  /** A program and its arguments; empty if there is none. */
  readonly command: readonly string[];
  /** If given, the command runs as a child, and the proxy is told to quit when it has ended. */
  readonly shutdown?: Shutdown | undefined;
}

/** How the proxy is told to quit. */
export interface Shutdown {
  readonly url: string;
  /** After any end of the command, or only when its code is 0. */
  readonly when: "always" | "success";
}

/** What holds where nothing is said, under our own name. The URLs are those of Istio's agent. */
export const DEFAULTS = {
  url: "http://localhost:15021/healthz/ready",
  quitUrl: "http://localhost:15020/quitquitquit",
  timeout: 60_000,
  period: 100,
  requestTimeout: 500,
} as const;
