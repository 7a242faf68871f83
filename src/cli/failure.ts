import { ClosedPipeError, EXIT, MeshError, messageOf, placeText } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";

/**
 * Tells the user of an error and returns the exit code. `MeshError`s are the user's to mend and are told in one line;
 * anything else is a defect of ours and says so.
 */
export function endOf(world: World, error: unknown): number {
  if (error instanceof ClosedPipeError) {
    say(world, "error: Standard output was closed before everything was written\n");
    return EXIT.failed;
  }
  if (error instanceof MeshError) {
    say(world, errorText(error));
    return error.exitCode;
  }
  say(world, `error: Unexpected failure of this program: ${oneLine(messageOf(error))}; please report it\n`);
  if (world.env.get("MESH_LOG_LEVEL") === "debug" && error instanceof Error) say(world, `${error.stack}\n`);
  return EXIT.failed;
}

/** `error: FILE: document 2, line 3: What failed; what to do next`, with the source line below where it is known. */
export function errorText(error: MeshError): string {
  const place = error.place === undefined ? "" : placeText(error.place);
  const head = [place, oneLine(error.message)].filter((part) => part !== "").join(": ");
  const hint = error.hint === undefined ? "" : `; ${oneLine(error.hint)}`;
  const snippet = error.place?.snippet === undefined ? "" : `${indented(error.place.snippet)}\n`;
  return `error: ${head}${hint}\n${snippet}`;
}

function oneLine(text: string): string {
  return text.trim().replaceAll(/\s*\n\s*/g, "; ");
}

function indented(text: string): string {
  return text.split("\n").map((line) => `  ${line}`).join("\n");
}

/** A reader of stderr that went away must not hide the exit code. */
function say(world: World, text: string): void {
  try {
    world.stderr.write(text);
  } catch (error) {
    if (!(error instanceof ClosedPipeError)) throw error;
  }
}
