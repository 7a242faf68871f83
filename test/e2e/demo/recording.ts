/** Converts the output of `examples/demo.sh` to the files in docs/images: a text, and a picture of the terminal. */
import { CHARACTER, type PaintName, svgPage } from "../../../src/explain/picture/paint.ts";
import { text } from "../../../src/explain/picture/svg.ts";

/** The path of the files, without extensions. */
export const RECORDING = decodeURIComponent(new URL("../../../docs/images/demo", import.meta.url).pathname);

/** The last line of a complete recording. */
const END = /^Status check results are √/;

/** Pixels, as in `svg.ts`. The line height is small, so that box-drawing characters connect. */
export const [PAD, LINE] = [16, 16];

/** Removes the ages of pods, which differ in each run. Returns `undefined` if the recording is incomplete. */
export function recorded(shown: string): string | undefined {
  const lines = shown.trimEnd().split("\n");
  if (!END.test(lines.at(-1) ?? "")) return undefined;
  return `${lines.map((line) => line.replace(/^(\w+ +\d\/\d +Running +0 +)\w+$/, "$1…")).join("\n")}\n`;
}

/** Returns the comments and commands, without their output. */
export function storyOf(shown = ""): readonly string[] {
  return shown.split("\n").filter((line) => /^[#$] /.test(line));
}

/** Returns a picture of the recording. */
export function picture(recording: string): string {
  const lines = recording.trimEnd().split("\n");
  const width = Math.ceil(Math.max(...lines.map((line) => line.length)) * CHARACTER) + 2 * PAD;
  const height = lines.length * LINE + 2 * PAD;
  const elements = lines.map((line, at) => text(PAD, PAD + 12 + at * LINE, line, paintOf(line)));
  return svgPage({ title: "examples/demo.sh", width, height }, elements);
}

const PAINTS: readonly (readonly [RegExp, PaintName])[] = [
  [/^# /, "say"],
  [/^\$ /, "head"],
  [/^√|results are √/, "ok"],
  [/^‼/, "warning"],
  [/^×|results are ×|^curl: /, "error"],
];

/** Returns the paint for a line of the terminal. */
export function paintOf(line: string): PaintName {
  return PAINTS.find(([pattern]) => pattern.test(line))?.[1] ?? "text";
}
