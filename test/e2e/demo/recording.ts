/** What `examples/demo.sh` has shown, as the files in docs/images: a text, and a picture of the terminal. */
import { STYLE, text } from "../../../src/explain/picture/svg.ts";

/** The files, without their endings. */
export const RECORDING = decodeURIComponent(new URL("../../../docs/images/demo", import.meta.url).pathname);

/** How a story that came to its end closes. */
const END = /^Status check results are √/;

/** Pixels, as in `svg.ts`; lines are so close that frames are whole. */
const [PAD, LINE, CHARACTER] = [16, 16, 7.82];

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
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    "<title>examples/demo.sh</title>",
    `<style>${STYLE}.say { fill: var(--way) }\n</style>`,
    `<rect class="paper" width="${width}" height="${height}"/>`,
    ...lines.map((line, at) => text(PAD, PAD + 12 + at * LINE, line, classOf(line))).filter((line) => line !== ""),
    "</svg>",
    "",
  ].join("\n");
}

const CLASSES: readonly (readonly [RegExp, string])[] = [
  [/^# /, "say"],
  [/^\$ /, "head"],
  [/^√|results are √/, "ok"],
  [/^‼/, "warning"],
  [/^×|results are ×|^curl: /, "error"],
];

function classOf(line: string): string {
  return CLASSES.find(([pattern]) => pattern.test(line))?.[1] ?? "";
}
