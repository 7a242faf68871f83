/**
 * Colours of SVG pictures. They stand in attributes, which every renderer knows: librsvg, Inkscape and slides draw an element
 * black whose colour is a `var()`. A style sheet on top makes them dark where the reader's settings are.
 */

type Color = readonly [light: string, dark: string];

const PAPER: Color = ["#ffffff", "#0d1117"];
const INK: Color = ["#1f2328", "#e6edf3"];
const FAINT: Color = ["#59636e", "#9198a1"];
const EDGE: Color = ["#8c959f", "#656c76"];
const BOX: Color = ["#f6f8fa", "#161b22"];
const OK: Color = ["#1a7f37", "#3fb950"];
const WARNING: Color = ["#9a6700", "#d29922"];
const ERROR: Color = ["#cf222e", "#f85149"];
const ACCENT: Color = ["#0969da", "#4493f8"];

interface Paint {
  readonly fill?: Color;
  readonly stroke?: Color;
  /** Attributes that have no colour. */
  readonly more?: string;
}

const BOLD = ' font-weight="600"';
const THICK = ' stroke-width="1.5"';

const PAINTS = {
  paper: { fill: PAPER },
  text: { fill: INK },
  title: { fill: INK, more: `${BOLD} font-size="16"` },
  head: { fill: INK, more: BOLD },
  faint: { fill: FAINT },
  ok: { fill: OK },
  warning: { fill: WARNING },
  unknown: { fill: WARNING },
  error: { fill: ERROR },
  say: { fill: ACCENT },
  box: { fill: BOX, stroke: EDGE },
  bad: { fill: BOX, stroke: ERROR, more: ' stroke-width="2"' },
  captured: { stroke: ACCENT, more: THICK },
  capturedTip: { fill: ACCENT },
  bypass: { stroke: WARNING, more: `${THICK} stroke-dasharray="5 4"` },
  bypassTip: { fill: WARNING },
  link: { stroke: EDGE, more: THICK },
  linkTip: { fill: EDGE },
} as const satisfies Readonly<Record<string, Paint>>;

/** What an element is painted as. */
export type PaintName = keyof typeof PAINTS;

/** The attributes of an element: its class and its colours. They begin with a blank. */
export function painted(name: PaintName): string {
  const { fill, stroke, more = "" }: Paint = PAINTS[name];
  const attribute = (key: string, color: Color | undefined) => color === undefined ? "" : ` ${key}="${color[0]}"`;
  return ` class="${name}"${attribute("fill", fill)}${attribute("stroke", stroke)}${more}`;
}

const DARK = Object.entries(PAINTS).map(([name, { fill, stroke }]: readonly [string, Paint]) => {
  const rule = (key: string, color: Color | undefined) => color === undefined ? [] : [`${key}: ${color[1]}`];
  return `.${name} { ${[...rule("fill", fill), ...rule("stroke", stroke)].join("; ")} }`;
});

const FONTS =
  "ui-monospace, SFMono-Regular, Menlo, Consolas, &quot;Liberation Mono&quot;, &quot;DejaVu Sans Mono&quot;, monospace";

/** Pixels: the size of the font, and the advance of a character in it. The fonts above have 0.6 of their size or less. */
export const FONT = 13;
export const CHARACTER = 7.84;

export interface Page {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  /** CSS on top of the colours, such as an animation. */
  readonly style?: string;
}

/** A whole SVG file around elements; `title` is escaped XML. */
export function svgPage({ title, width, height, style = "" }: Page, elements: readonly string[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" font-family="${FONTS}" font-size="${FONT}" xml:space="preserve">`,
    `<title>${title}</title>`,
    `<style>:root { color-scheme: light dark } text { white-space: pre }\n@media (prefers-color-scheme: dark) {\n${
      DARK.join("\n")
    }\n}${style}</style>`,
    `<rect${painted("paper")} width="${width}" height="${height}"/>`,
    ...elements.filter((element) => element !== ""),
    "</svg>",
    "",
  ].join("\n");
}
