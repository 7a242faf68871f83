/** Every kind of picture without a browser: librsvg draws it, and its pixels have the colours that the file names. */
import assert from "node:assert/strict";
import { decode } from "fast-png";
import { needsProgram, testWhen } from "../support/test_when.ts";
import { sayMesh } from "../support/programs/mesh.ts";

const ROOT = decodeURIComponent(new URL("../../", import.meta.url).pathname);
const absent = needsProgram("rsvg-convert");

const POD = ["-f", "examples/explain/web"];
const BOTH = ["-f", "examples/explain/cart", "-f", "examples/explain/catalog", "cart-5d8f7-q9x2m", "--to", "catalog:8080"];

/** Files, or arguments of `explain -o svg`. */
const PICTURES: Readonly<Record<string, string | readonly string[]>> = {
  "a pod": POD,
  "a connection that is refused": [...POD, "--to", "203.0.113.7:443"],
  "both ends of a connection": BOTH,
  "one end of a connection": [...BOTH, "--one-end"],
  "a path of wide characters": BOTH.with(-1, `http://catalog:8080/${"漢字".repeat(60)}`),
  "a pod in the documentation": "docs/images/explain-pod.svg",
  "both ends in the documentation": "docs/images/explain-both-ends.svg",
  "the demo": "docs/images/demo.svg",
  "the demo as an animation": "docs/images/demo-animated.svg",
};

for (const [name, source] of Object.entries(PICTURES)) {
  testWhen(absent, `librsvg draws in colours: ${name}`, async () => {
    const svg = typeof source === "string" ? await Deno.readTextFile(`${ROOT}${source}`) : await drawn(source);
    const { width, height, counts, edge } = await pixelsOf(svg);
    assert.match(svg, new RegExp(`^<svg [^>]*width="${width}" height="${height}"`));
    assert.equal(counts.get("#000000") ?? 0, 0, "black pixels");
    const [[paper, amount] = ["", 0]] = [...counts].toSorted(([, a], [, b]) => b - a);
    assert.ok(["#ffffff", "#f6f8fa"].includes(paper), paper);
    assert.ok(amount < 0.98 * width * height, "it is empty");
    assert.deepEqual([...edge], ["#ffffff"], "something runs out of the picture");
    const shown = svg.replace(/<style>[^]*<\/style>|<defs>[^]*<\/defs>/g, "");
    const colors = new Set([...shown.matchAll(/ (?:fill|stroke)="(#[0-9a-f]{6})"/g)].map(([, color = ""]) => color));
    assert.ok(colors.size >= 4, svg);
    // What has scrolled out of the animation has colours too.
    if (!svg.includes("@keyframes")) for (const color of colors) assert.ok(isNear(color, counts), `no pixel is ${color}`);
    assert.doesNotMatch(svg, /var\(/);
  });
}

async function drawn(args: readonly string[]): Promise<string> {
  const { stdout, stderr } = await sayMesh(["explain", ...args, "-o", "svg"], { env: { LC_ALL: "C.UTF-8" } });
  assert.equal(stderr, "");
  return stdout;
}

interface Pixels {
  readonly width: number;
  readonly height: number;
  /** How many pixels have a colour. */
  readonly counts: ReadonlyMap<string, number>;
  /** The colours of the outermost pixels. */
  readonly edge: ReadonlySet<string>;
}

async function pixelsOf(svg: string): Promise<Pixels> {
  const child = new Deno.Command("rsvg-convert", { stdin: "piped", stdout: "piped", stderr: "inherit" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(svg));
  await writer.close();
  const { width, height, channels, data } = decode((await child.output()).stdout);
  const counts = new Map<string, number>();
  const edge = new Set<string>();
  for (let at = 0; at < width * height; at++) {
    const [red = 0, green = 0, blue = 0] = data.subarray(at * channels, at * channels + 3);
    const color = `#${((red << 16) + (green << 8) + blue).toString(16).padStart(6, "0")}`;
    counts.set(color, (counts.get(color) ?? 0) + 1);
    const [x, y] = [at % width, Math.floor(at / width)];
    if (x < 4 || y < 4 || x >= width - 4 || y >= height - 4) edge.add(color);
  }
  return { width, height, counts, edge };
}

/** Thin strokes of letters are mixed with the paper: a pixel with nearly the colour is enough. */
function isNear(color: string, counts: ReadonlyMap<string, number>): boolean {
  const parts = (text: string) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));
  const wanted = parts(color);
  return [...counts.keys()].some((each) => parts(each).every((part, at) => Math.abs(part - (wanted[at] ?? 0)) <= 24));
}
