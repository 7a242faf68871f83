/** Exit codes of the program, as `contract.md` and the README list them. */
export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  notCaptured: 126,
  /** A command that was to be run, as a shell says it (POSIX 2.8.2). */
  notExecutable: 126,
  notFound: 127,
  interrupted: 130,
  terminated: 143,
} as const;

/** Where in the user's input something is wrong; every part may be unknown. Lines, columns and documents count from 1. */
export interface Place {
  readonly file?: string;
  readonly document?: number;
  readonly line?: number;
  readonly column?: number;
  /** A field path such as `spec.template.spec.containers[0].image`. */
  readonly field?: string;
  /** The source line itself and a caret under the column, for a second and third line of the message. */
  readonly snippet?: string;
}

/** What may be told with an error besides its message. */
export interface ErrorDetails {
  readonly place?: Place;
  /** What to do next: a clause that follows the message after a semicolon, without a final period. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
  readonly exitCode?: number;
}

/**
 * An error that a user can act on. The message says what failed and with which input: upper-case start, values in
 * double quotes, no final period. Any other kind of error that reaches the top is a defect of this program.
 */
export class MeshError extends Error {
  readonly place: Place | undefined;
  readonly hint: string | undefined;
  readonly exitCode: number;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = new.target.name;
    this.place = details.place;
    this.hint = details.hint;
    this.exitCode = details.exitCode ?? EXIT.failed;
  }
}

/** The command line is wrong: exit code 2. */
export class UsageError extends MeshError {
  constructor(message: string, details: ErrorDetails = {}) {
    super(message, { exitCode: EXIT.usage, ...details });
  }
}

/** The reader of our output went away (`| head`). */
export class ClosedPipeError extends Error {}

/** The text of a place: `web.yaml: document 2, line 14, column 3: spec.replicas`; empty if nothing is known. */
export function placeText(place: Place): string {
  const spot = [
    place.document === undefined ? "" : `document ${place.document}`,
    place.line === undefined ? "" : `line ${place.line}`,
    place.column === undefined ? "" : `column ${place.column}`,
  ].filter((part) => part !== "").join(", ");
  return [place.file ?? "", spot, place.field ?? ""].filter((part) => part !== "").join(": ");
}

/**
 * An error as one line, without `error: ` before it: `web.yaml: document 2, line 14: What failed; what to do next`. A
 * field that the message names itself is not named twice.
 */
export function errorLine({ message, place, hint }: Pick<MeshError, "message" | "place" | "hint">): string {
  const told = oneLine(message);
  const shown = saysField(told, place?.field) ? { ...place, field: "" } : place ?? {};
  const head = [placeText(shown), told].filter((part) => part !== "").join(": ");
  return hint === undefined ? head : `${head}; ${inSentence(oneLine(hint))}`;
}

const NAME = /^(Kubernetes|Istio|Envoy|Helm)\b/;

/** A capital that only begins a sentence is none in the middle of one. */
function inSentence(text: string): string {
  return /^[A-Z][a-z]* /.test(text) && !NAME.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/** Whether a message names a field itself: its path, or the key in `metadata.annotations["key"]`. */
export function saysField(message: string, field: string | undefined): boolean {
  if (field === undefined) return false;
  const key = /\["([^"]+)"\]$/.exec(field)?.[1];
  return message.includes(`"${field}"`) || (key !== undefined && message.includes(`"${key}"`));
}

/** A text of several lines as one. */
export function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, "; ");
}

/** The source line with a caret below it, indented; `""` if it is not known. */
export function snippetText(place: Place | undefined): string {
  if (place?.snippet === undefined) return "";
  return place.snippet.split("\n").map((line) => `  ${line}\n`).join("");
}

/** A thrown value as one line: that of a MeshError with place and hint, else its message. */
export function errorText(error: unknown): string {
  return error instanceof MeshError ? errorLine(error) : messageOf(error);
}

/** An unknown thrown thing as text. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
