/**
 * Colours of SVG pictures. Colours are in attributes, which every renderer supports: librsvg, Inkscape and presentation
 * programs draw an element with a `var()` colour in black. A style sheet overrides the colours if the reader prefers dark.
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
  /** Further attributes, without a colour. */
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

/** Names of the styles of an element. */
export type PaintName = keyof typeof PAINTS;

/** Returns the attributes of an element (class and colours), with a leading space. */
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

/** Size of the font in pixels. In the fonts above, a character is at most 0.6 of this size wide. */
export const FONT = 13;
export const CHARACTER = 7.84;

export interface Page {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  /** Additional CSS, such as an animation. */
  readonly style?: string;
}

/** Returns a complete SVG file with the elements. `title` is escaped XML. */
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
