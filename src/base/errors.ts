import { withShownUrls } from "./shown_url.ts";

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notCaptured: 126,
  /** The code that a shell returns for a program that is not executable (POSIX 2.8.2). */
  notExecutable: 126,
  notFound: 127,
  hungUp: 129,
  interrupted: 130,
  /** The reader of standard output is gone. The code is the same as after SIGPIPE. */
  closedPipe: 141,
  terminated: 143,
  /** The code of Go's os.Exit(-1). */
  pilotAgentFailed: 255,
} as const;

export type ExitName = keyof typeof EXIT;

/** The meaning of each code in help and manual pages, unless a command has its own text. */
export const EXIT_MEANING: Readonly<Record<ExitName, string>> = {
  ok: "done",
  failed: "it failed",
  usage: "the command line is wrong",
  notCaptured: "traffic is not captured",
  notExecutable: "COMMAND cannot be executed",
  notFound: "COMMAND does not exist",
  hungUp: "SIGHUP",
  interrupted: "SIGINT",
  closedPipe: "the reader of standard output is gone",
  terminated: "SIGTERM",
  pilotAgentFailed: "any failure",
};

/** The position of an error in the user's input. Every part is optional. Lines, columns and documents count from 1. */
export interface Place {
  readonly file?: string;
  readonly document?: number;
  readonly line?: number;
  readonly column?: number;
  /** A field path such as `spec.template.spec.containers[0].image`. */
  readonly field?: string;
  /** The source line and, on a second line, a caret under the column. */
  readonly snippet?: string;
}

export interface ErrorDetails {
  readonly place?: Place;
  /** What to do next: a clause that follows the message after a semicolon, without a final period. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  readonly exitCode?: number;
  /** Lines to print below the line of the error. */
  readonly rest?: readonly string[];
}

/** Maximum characters of a quoted value or field in a message: the input may be untrusted and of any length. */
const MAX_QUOTED = 200;
/** Maximum characters of a message, which may quote many values. */
const MAX_MESSAGE = 16_384;

/** Shortens the quoted values of a message, and the message. */
function shortened(message: string): string {
  if (message.length <= MAX_QUOTED) return message;
  return beginning(message.replaceAll(/"([^"]*)"/g, (_, value) => `"${beginning(value, MAX_QUOTED)}"`), MAX_MESSAGE);
}

function beginning(text: string, length: number): string {
  return text.length <= length ? text : `${text.slice(0, length)}…`.toWellFormed();
}

/**
 * An error that a user can act on. The message says what failed and with which input: upper-case start, values in
 * double quotes (shortened), no final period. Any other kind of error that reaches the top is a defect of this program.
 */
export class MeshError extends Error {
  readonly place: Place | undefined;
  readonly hint: string | undefined;
  readonly exitCode: number;
  readonly rest: readonly string[];

  constructor(message: string, details: ErrorDetails = {}) {
    super(shortened(message), details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.place = details.place;
    this.hint = details.hint === undefined ? undefined : shortened(details.hint);
    this.exitCode = details.exitCode ?? EXIT.failed;
    this.rest = (details.rest ?? []).map(shortened);
  }
}

/** An invalid command line: exit code 2. The message shows no credentials of a URL in it. */
export class UsageError extends MeshError {
  constructor(message: string, details: ErrorDetails = {}) {
    super(withShownUrls(message), { exitCode: EXIT.usage, ...details });
  }
}

/** Thrown if the reader of the output has closed the pipe (`| head`). */
export class ClosedPipeError extends Error {}

/** Formats a position: `web.yaml: document 2, line 14, column 3: spec.replicas`; `""` for an unknown position. */
export function placeText(place: Place): string {
  const spot = [
    place.document === undefined ? "" : `document ${place.document}`,
    place.line === undefined ? "" : `line ${place.line}`,
    place.column === undefined ? "" : `column ${place.column}`,
  ].filter((part) => part !== "").join(", ");
  return [place.file ?? "", spot, beginning(place.field ?? "", MAX_QUOTED)].filter((part) => part !== "").join(": ");
}

/**
 * Formats an error as one line, without `error: `, such as `web.yaml: document 2, line 14: What failed; what to do
 * next`. A field that the message already contains is not repeated.
 */
export function errorLine({ message, place, hint }: Pick<MeshError, "message" | "place" | "hint">): string {
  const line = oneLine(message);
  const shown = saysField(line, place?.field) ? { ...place, field: "" } : place ?? {};
  const head = [placeText(shown), line].filter((part) => part !== "").join(": ");
  return hint === undefined ? head : `${head}; ${inSentence(oneLine(hint))}`;
}

const NAME = /^(Kubernetes|Istio|Envoy|Helm)\b/;

/** Lower-cases the first letter of a sentence, unless it starts with a name. */
function inSentence(text: string): string {
  return /^[A-Z][a-z]* /.test(text) && !NAME.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/** Whether a message contains a field, either as its path or as the key in `metadata.annotations["key"]`. */
export function saysField(message: string, field: string | undefined): boolean {
  if (field === undefined) return false;
  const key = /\["([^"]+)"\]$/.exec(field)?.[1];
  return message.includes(`"${field}"`) || (key !== undefined && message.includes(`"${key}"`));
}

/** Joins the lines of a text into one line. */
export function oneLine(text: string): string {
  return text.split("\n").map((line) => line.trim()).filter((line) => line !== "").join("; ");
}

/** Returns the source line and the caret below it, indented; empty if the source line is unknown. */
export function snippetLines(place: Place | undefined): string[] {
  return place?.snippet === undefined ? [] : place.snippet.split("\n").map((line) => `  ${line}`);
}

/** Formats a thrown value as one line: a MeshError with position and hint, any other value as its message alone. */
export function errorText(error: unknown): string {
  return error instanceof MeshError ? errorLine(error) : messageOf(error);
}

/** Returns the message of a thrown value. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
