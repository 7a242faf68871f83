import { ClosedPipeError, errorLine, EXIT, MeshError, messageOf, oneLine, snippetText } from "../base/errors.ts";
import { exhaustion } from "../base/exhaustion.ts";
import { textWidth, wrappedBeforeCommand } from "../base/text/mod.ts";
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
    say(world, errorText(world, error));
    return error.exitCode;
  }
  const exhausted = exhaustion(error);
  if (exhausted !== undefined) {
    say(world, `error: Cannot continue: ${exhausted.reason}; ${exhausted.hint}\n`);
    return EXIT.failed;
  }
  say(world, `error: Unexpected failure of this program: ${oneLine(messageOf(error))}; please report it\n`);
  if (world.env.get("MESH_LOG_LEVEL") === "debug" && error instanceof Error) say(world, `${error.stack}\n`);
  return EXIT.failed;
}

/** Formats an error with its details; at a terminal also with the source line, if known. */
function errorText(world: World, error: MeshError): string {
  const rest = error.rest.map((line) => `  ${line}\n`).join("");
  return `error: ${errorLine(error)}\n${world.stderr.isTerminal ? snippetText(error.place) : ""}${rest}`;
}

/**
 * Writes lines to standard error. At a terminal, escapes colour codes, because they come from untrusted texts, and breaks
 * long messages between words. Ignores a failure, which would hide the exit code.
 */
export function say(world: World, text: string): void {
  try {
    world.stderr.write(world.stderr.isTerminal ? forTerminal(text, world.stderr.columns) : text);
  } catch {
    // Standard error is closed or full, so the failure cannot be reported.
  }
}

function forTerminal(text: string, columns = Infinity): string {
  const lines = text.replaceAll("\u001b", "\\u001b").split("\n");
  return lines.map((line) => {
    return textWidth(line) > columns && !NO_SENTENCE.test(line)
      ? wrappedBeforeCommand(line, columns - 2).join("\n  ")
      : line;
  }).join("\n");
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
