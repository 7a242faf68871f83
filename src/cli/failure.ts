import { ClosedPipeError, errorLine, EXIT, MeshError, messageOf, oneLine, snippetText } from "../base/errors.ts";
import { exhaustion } from "../base/exhaustion.ts";
import type { World } from "../platform/world.ts";

/**
 * Tells the user of an error and returns the exit code. A closed pipe is no error: `| head` has read enough. A `MeshError` is one that the user
 * can act on, and so is a machine that has no more of something; anything else is a defect of this program and says so.
 */
export function reportFailure(world: World, error: unknown): number {
  if (error instanceof ClosedPipeError) {
    return EXIT.closedPipe;
  }
  if (error instanceof MeshError) {
    say(world, errorText(world, error));
    return error.exitCode;
  }
  const exhausted = exhaustion(error);
  if (exhausted !== undefined) {
    say(world, `error: Cannot go on: ${exhausted.reason}; ${exhausted.hint}\n`);
    return EXIT.failed;
  }
  say(world, `error: Unexpected failure of this program: ${oneLine(messageOf(error))}; please report it\n`);
  if (world.env.get("MESH_LOG_LEVEL") === "debug" && error instanceof Error) say(world, `${error.stack}\n`);
  return EXIT.failed;
}

/** The line of an error and what stands below it; at a terminal also the source line, where it is known. */
function errorText(world: World, error: MeshError): string {
  const rest = error.rest.map((line) => `  ${line}\n`).join("");
  return `error: ${errorLine(error)}\n${world.stderr.isTerminal ? snippetText(error.place) : ""}${rest}`;
}

/**
 * Writes lines without colours to standard error: at a terminal, a colour would be of a text from elsewhere. A failure to write
 * must not hide the exit code.
 */
export function say(world: World, text: string): void {
  try {
    world.stderr.write(world.stderr.isTerminal ? text.replaceAll("\u001b", "\\u001b") : text);
  } catch {
    // No stream is left to report it on.
  }
}
