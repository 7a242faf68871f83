/** The options of a wait. Times are in milliseconds. */
export interface WaitOptions {
  readonly urls: readonly string[];
  /** Maximum duration of the wait; 0 sends one request per URL. */
  readonly timeout: number;
  /** Maximum pause between two requests. */
  readonly period: number;
  readonly requestTimeout: number;
  /** Action after a timeout: fail, or run the command anyway. */
  readonly onTimeout: "fail" | "continue";
  readonly command: readonly string[];
  /** How to ask the proxy to quit after the command. */
  readonly shutdown?: Shutdown | undefined;
}

export interface Shutdown {
  readonly url: string;
  /** Whether to send the request after every exit of the command or only after exit code 0. */
  readonly when: "always" | "success";
}

/** Default URLs, which belong to Istio's agent. */
export const DEFAULTS = {
  url: "http://localhost:15021/healthz/ready",
  quitUrl: "http://localhost:15020/quitquitquit",
  timeout: 60_000,
  period: 100,
  requestTimeout: 500,
} as const;
