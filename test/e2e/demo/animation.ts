/** Makes an animation of the recording: a terminal in which the lines appear and scroll once, with CSS only. */
import { CHARACTER, painted, svgPage } from "../../../src/explain/picture/paint.ts";
import { text } from "../../../src/explain/picture/svg.ts";
import { LINE, PAD, paintOf } from "./recording.ts";

/** The number of lines of the terminal. */
const ROWS = 32;
/** The total duration in seconds. The last screen is shown for the last `STAYS` seconds. */
export const SECONDS = 30;
const STAYS = 2;
/** The maximum number of output lines that appear together, so that readers can follow. */
const TOGETHER = 9;

/** Lines that appear together, and the relative time until the next step. */
interface Step {
  readonly lines: readonly string[];
  readonly weight: number;
}

/** Relative reading times: comments take longer than commands, and commands longer than their output. */
const WEIGHTS = { "#": 1.6, "$": 1, "": 0.55 } as const;

/**
 * Returns the animation of a text. Renderers without animations, and readers who prefer reduced motion, see the last
 * screen.
 */
export function animation(recording: string): string {
  const steps = stepsOf(recording.trimEnd().split("\n"));
  const whole = steps.reduce((sum, { weight }) => sum + weight, 0);
  const groups: string[] = [];
  const scrolls: string[] = [];
  let [row, weight, scrolled, columns] = [0, 0, 0, 0];
  for (const { lines, weight: own } of steps) {
    const seconds = (SECONDS - STAYS) * weight / whole;
    const texts = lines.map((line, at) => text(PAD, PAD + 12 + (row + at) * LINE, line, paintOf(line)));
    groups.push(`<g class="late" style="animation-delay: ${seconds.toFixed(2)}s">${texts.join("\n")}</g>`);
    columns = Math.max(columns, ...lines.map((line) => line.length));
    [row, weight] = [row + lines.length, weight + own];
    const past = Math.max(0, row - ROWS);
    if (past > scrolled) {
      scrolls.push(`${percent(seconds)} { ${moved(scrolled)} }`, `${percent(seconds + 0.15)} { ${moved(past)} }`);
    }
    scrolled = past;
  }
  const [width, height] = [Math.ceil(columns * CHARACTER) + 2 * PAD, ROWS * LINE + 2 * PAD];
  const style = `
@keyframes late { from { opacity: 0 } }
@keyframes scroll { from { ${moved(0)} }
${scrolls.join("\n")}
to { ${moved(scrolled)} } }
@media (prefers-reduced-motion: no-preference) {
.late { animation: late 0.01s linear backwards }
.scroll { animation: scroll ${SECONDS}s linear } }
`;
  const title = `examples/demo.sh in ${SECONDS} seconds`;
  return svgPage({ title, width, height, style }, [
    `<g class="scroll" transform="translate(0 ${-scrolled * LINE})">`,
    ...groups,
    "</g>",
    // Hides lines that scroll out before they touch the edge.
    `<rect${painted("paper")} width="${width}" height="${PAD - 4}"/>`,
  ]);
}

function stepsOf(lines: readonly string[]): Step[] {
  const kind = (line: string | undefined): keyof typeof WEIGHTS =>
    line?.startsWith("# ") ? "#" : line?.startsWith("$ ") ? "$" : "";
  const steps: { lines: string[]; weight: number }[] = [];
  for (const [at, line] of lines.entries()) {
    const [own, last] = [kind(line), steps.at(-1)];
    const isNext = own !== "$" && at > 0 && (own === kind(lines[at - 1]) || lines[at - 1] === "");
    if (last !== undefined && isNext && last.lines.length < TOGETHER) last.lines.push(line);
    else steps.push({ lines: [line], weight: 0 });
    const step = steps.at(-1);
    if (step !== undefined) step.weight = Math.max(step.weight, WEIGHTS[own]);
  }
  return steps;
}

function moved(rows: number): string {
  return `transform: translateY(${-rows * LINE}px)`;
}

function percent(seconds: number): string {
  return `${(100 * seconds / SECONDS).toFixed(2)}%`;
}
