import { ClosedPipeError, errorLine, EXIT, MeshError, messageOf, oneLine, snippetLines } from "../base/errors.ts";
import { exhaustion } from "../base/exhaustion.ts";
import { textWidth, visible, withoutCommand, wrappedBeforeCommand } from "../base/text/mod.ts";
import type { World } from "../platform/world.ts";

/**
 * Matches JSON lines and indented lines, such as the lines below an error. Long lines of these kinds are not wrapped.
 */
const NO_SENTENCE = /^[\s{]/;

/**
 * Reports an error to the user and returns the exit code. A closed pipe is not an error: `| head` has read enough. The user can
 * act on a `MeshError` and on an exhausted resource. Any other error is a defect of this program, and the message says so.
 */
export function reportFailure(world: World, error: unknown): number {
  if (error instanceof ClosedPipeError) return EXIT.closedPipe;
  if (error instanceof MeshError) {
    say(world, ...errorLines(world, error));
    return error.exitCode;
  }
  const exhausted = exhaustion(error);
  if (exhausted !== undefined) {
    say(world, `error: Cannot continue: ${exhausted.reason}; ${exhausted.hint}`);
    return EXIT.failed;
  }
  say(world, `error: Unexpected failure of this program: ${oneLine(messageOf(error))}; please report it`);
  if (world.env.get("MESH_LOG_LEVEL") === "debug" && error instanceof Error) {
    say(world, ...String(error.stack).split("\n"));
  }
  return EXIT.failed;
}

/** Formats an error with its details; at a terminal also with the source line, if known. */
function errorLines(world: World, error: MeshError): string[] {
  const rest = error.rest.map((line) => `  ${line}`);
  return [`error: ${errorLine(error)}`, ...world.stderr.isTerminal ? snippetLines(error.place) : [], ...rest];
}

/**
 * Writes lines to standard error, each with its line break. Untrusted text in a line, such as a name, adds no other line,
 * and gives no command to a CI system. At a terminal, breaks long messages between words. Ignores a failure, which would
 * hide the exit code.
 */
export function say(world: World, ...lines: readonly string[]): void {
  const { isTerminal, columns = Infinity } = world.stderr;
  const shown = lines.map(oneShownLine);
  try {
    world.stderr.write((isTerminal ? shown.map((line) => forTerminal(line, columns)) : shown).map(ended).join(""));
  } catch {
    // Standard error is closed or full, so the failure cannot be reported.
  }
}

function oneShownLine(line: string): string {
  return withoutCommand(line.split("\t").map(visible).join("\t"));
}

function ended(line: string): string {
  return `${line}\n`;
}

function forTerminal(line: string, columns: number): string {
  return textWidth(line) > columns && !NO_SENTENCE.test(line)
    ? wrappedBeforeCommand(line, columns - 2).join("\n  ")
    : line;
}

/**
 * Runs a comparison; returns its exit code. As in diff(1), a failure of any kind has exit code 2, because 1 means a
 * difference. The failure is reported here.
 */
export async function failingWithTwo(world: World, compare: () => Promise<number>): Promise<number> {
  try {
    return await compare();
  } catch (error) {
    const code = reportFailure(world, error);
    return code === EXIT.failed ? EXIT.usage : code;
  }
}
