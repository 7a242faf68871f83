/** Errors for commands that do not run in a container. */
import { oneLine } from "../../base/errors.ts";
import { withoutMiddle } from "../../base/text/mod.ts";
import { ApiError, type ApiErrorDetails } from "./api.ts";

export interface HeldRequest {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly command: readonly string[];
  /** Milliseconds within which the command must exit; for `hold`, within which it must start. */
  readonly timeout: number;
}

export interface ExecRequest extends HeldRequest {
  /** Maximum bytes of standard output. More is an error. */
  readonly maxBytes: number;
}

export type ExecFailure =
  | "forbidden"
  | "no-pod"
  | "no-container"
  | "not-running"
  | "no-command"
  | "unreachable"
  | "node"
  | "no-websocket"
  | "timeout"
  | "too-long"
  | "other";

/** Thrown if the command did not run, or did not finish. */
export class ExecError extends ApiError {
  constructor(readonly failure: ExecFailure, message: string, details: ApiErrorDetails = {}) {
    super(message, details);
  }
}

const LONGEST_REASON = 2000;

interface Known {
  readonly pattern: RegExp;
  readonly failure: ExecFailure;
  readonly text: (request: ExecRequest, said: string) => string;
  readonly hint?: string;
}

/** Known messages of the API server, the kubelet and container runtimes. The first match wins. */
const KNOWN: readonly Known[] = [
  {
    pattern: /pods? (?:\S+ )?not found|pod does not exist|NotFound[^N]*pods/i,
    failure: "no-pod",
    text: ({ namespace, pod }) => `The pod "${namespace}/${pod}" does not exist`,
  },
  {
    pattern: /container \S+ is not valid for pod|no such container/i,
    failure: "no-container",
    text: ({ container, namespace, pod }) => `The pod "${namespace}/${pod}" has no container "${container}"`,
  },
  {
    pattern:
      /container not found|container (?:\S+ )?(?:is )?not running|is not created or running|cannot exec in a (?:stopped|deleted)|does not have a host assigned|current phase is/i,
    failure: "not-running",
    text: (request) => `The ${containerOf(request)} is not running`,
    hint: "check the state and the last log lines of the container",
  },
  {
    pattern: /executable file not found|no such file or directory|stat \S+ no such/i,
    failure: "no-command",
    text: (request) => `The ${containerOf(request)} has no program "${request.command[0]}"`,
  },
  {
    pattern:
      /dial tcp|no route to host|connection refused|i\/o timeout|EOF|no preferred addresses|nodes? "[^"\n]*" not found/i,
    failure: "node",
    text: (request, said) =>
      `The API server cannot reach the kubelet of pod "${request.namespace}/${request.pod}": ${said}`,
    hint: "check that the node is running",
  },
];

/** Returns the error for a server's message. */
export function execFailure(said: string, request: ExecRequest, cause?: unknown): ExecError {
  const known = KNOWN.find(({ pattern }) => pattern.test(said));
  const short = withoutMiddle(oneLine(said), LONGEST_REASON);
  const text = known?.text(request, short) ?? `Cannot run "${request.command[0]}" in ${containerOf(request)}: ${short}`;
  return new ExecError(known?.failure ?? "other", text, { hint: known?.hint, cause });
}

/** Formats the container for messages. */
export function containerOf({ namespace, pod, container }: ExecRequest): string {
  return `container "${container}" of pod "${namespace}/${pod}"`;
}
