/** What `examples/demo.sh` has shown, as the files in docs/images: a text, and a picture of the terminal. */
import { CHARACTER, type PaintName, svgPage } from "../../../src/explain/picture/paint.ts";
import { text } from "../../../src/explain/picture/svg.ts";

/** The files, without their endings. */
export const RECORDING = decodeURIComponent(new URL("../../../docs/images/demo", import.meta.url).pathname);

/** How a story that came to its end closes. */
const END = /^Status check results are √/;

/** Pixels, as in `svg.ts`; lines are so close that frames are whole. */
export const [PAD, LINE] = [16, 16];

/** The text without what differs from run to run: the ages of pods. `undefined`: the story did not come to its end. */
export function recorded(shown: string): string | undefined {
  const lines = shown.trimEnd().split("\n");
  if (!END.test(lines.at(-1) ?? "")) return undefined;
  return `${lines.map((line) => line.replace(/^(\w+ +\d\/\d +Running +0 +)\w+$/, "$1…")).join("\n")}\n`;
}

/** What is said and run, without what answers. */
export function storyOf(shown = ""): readonly string[] {
  return shown.split("\n").filter((line) => /^[#$] /.test(line));
}

/** The picture of a text. */
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

/** What a line of the terminal is painted as. */
export function paintOf(line: string): PaintName {
  return PAINTS.find(([pattern]) => pattern.test(line))?.[1] ?? "text";
}
