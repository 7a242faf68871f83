/** Shapes of YAML: each repeats one feature of the language many times. */
import { repeat } from "./case.ts";

/** Returns a Deployment with text inserted in different places. */
export function deployment(
  { name = "web", before = "", annotations = "", containers = "", pod = "", after = "" } = {},
): string {
  return `apiVersion: apps/v1
kind: Deployment
metadata:
  name: ${name}
${before}spec:
  replicas: 1
  template:
    metadata:
      labels: {app: ${name}}
${annotations === "" ? "" : `      annotations:\n${annotations}`}    spec:
      containers:
      - name: app
        image: example.com/app:1
${containers}${pod}${after}`;
}

/** A text with many repetitions, inside a Deployment that is injected. */
export interface Shape {
  readonly name: string;
  readonly size: number;
  text(size: number): string;
}

const note = (text: string) => deployment({ before: text });
const own = (value: string) => note(`x: ${value}\n`);
const pair = (index: number) => `k${index}: v${index}`;

/** The shapes that every YAML reader gets. */
export const SHAPES: readonly Shape[] = [
  { name: "blank lines", size: 800_000, text: (n) => note("\n".repeat(n)) },
  { name: "blank lines at the end", size: 800_000, text: (n) => deployment({ after: "\n".repeat(n) }) },
  { name: "blank lines at the start", size: 800_000, text: (n) => "\n".repeat(n) + deployment() },
  { name: "lines of spaces", size: 100_000, text: (n) => note("          \n".repeat(n)) },
  { name: "one line of spaces", size: 1_000_000, text: (n) => note(`${" ".repeat(n)}\n`) },
  { name: "spaces after a value", size: 1_000_000, text: (n) => own(`a${" ".repeat(n)}`) },
  { name: "spaces in a value", size: 1_000_000, text: (n) => own(`a${" ".repeat(n)}b`) },
  { name: "spaces before a colon", size: 1_000_000, text: (n) => note(`y${" ".repeat(n)}: 1\n`) },
  { name: "comments", size: 200_000, text: (n) => note(repeat(n, (i) => `# comment ${i}\n`)) },
  { name: "indented comments", size: 200_000, text: (n) => note(repeat(n, (i) => `  # comment ${i}\n`)) },
  {
    name: "comments at the end",
    size: 150_000,
    text: (n) => deployment({ after: repeat(n, (i) => `      # comment ${i}\n`) }),
  },
  { name: "comments and blank lines", size: 200_000, text: (n) => note("# a\n\n".repeat(n)) },
  { name: "comments behind values", size: 100_000, text: (n) => note(repeat(n, (i) => `${pair(i)} # c\n`)) },
  { name: "one long comment", size: 4_000_000, text: (n) => note(`#${" #".repeat(n / 2)}\n`) },
  { name: "keys", size: 100_000, text: (n) => note(repeat(n, (i) => `${pair(i)}\n`)) },
  { name: "keys that are numbers", size: 50_000, text: (n) => note(`x:\n${repeat(n, (i) => `  ${i}: 1\n`)}`) },
  { name: "quoted keys", size: 100_000, text: (n) => note(repeat(n, (i) => `"k ${i}": 'v'\n`)) },
  { name: "duplicate keys", size: 20_000, text: (n) => note("k: v\n".repeat(n)) },
  { name: "keys with a question mark", size: 20_000, text: (n) => note(repeat(n, (i) => `? k${i}\n: v\n`)) },
  { name: "plain scalar on one line", size: 4_000_000, text: (n) => own("a b ".repeat(n / 4) + "c") },
  { name: "plain scalar of many lines", size: 100_000, text: (n) => own(`a\n${"  some text\n".repeat(n)}`) },
  { name: "double-quoted scalar on one line", size: 4_000_000, text: (n) => own(`"${"a ".repeat(n / 2)}"`) },
  { name: "double-quoted scalar of many lines", size: 100_000, text: (n) => own(`"a\n${"  some text\n".repeat(n)}"`) },
  { name: "double-quoted scalar with escapes", size: 500_000, text: (n) => own(`"${"\\n\\u0041".repeat(n / 4)}"`) },
  { name: "single-quoted scalar", size: 2_000_000, text: (n) => own(`'${"a'' ".repeat(n / 4)}'`) },
  { name: "single-quoted scalar of many lines", size: 100_000, text: (n) => own(`'a\n${"  some text\n".repeat(n)}'`) },
  { name: "digits", size: 500_000, text: (n) => own("1".repeat(n)) },
  { name: "digits in quotes", size: 500_000, text: (n) => own(`"${"1".repeat(n)}"`) },
  { name: "digits and commas", size: 200_000, text: (n) => own("1,".repeat(n)) },
  { name: "numbers", size: 200_000, text: (n) => note(`x:\n${repeat(n, (i) => `- ${i}.5\n`)}`) },
  { name: "literals", size: 20_000, text: (n) => note(repeat(n, (i) => `k${i}: |\n  a\n  b\n`)) },
  { name: "one literal", size: 200_000, text: (n) => own(`|\n${"  some text\n".repeat(n)}`) },
  { name: "one literal with blank lines", size: 400_000, text: (n) => own(`|\n  a\n${"\n".repeat(n)}  b\n`) },
  { name: "a literal before blank lines", size: 400_000, text: (n) => own(`|\n  a\n${"\n".repeat(n)}`) },
  { name: "a literal that keeps blank lines", size: 200_000, text: (n) => own(`|+\n  a\n${"\n".repeat(n)}`) },
  { name: "a folded scalar", size: 100_000, text: (n) => own(`>\n${"  some text\n".repeat(n)}`) },
  { name: "a folded scalar with blank lines", size: 200_000, text: (n) => own(`>-\n  a\n${"\n".repeat(n)}  b\n`) },
  { name: "folded scalars", size: 10_000, text: (n) => note(repeat(n, (i) => `k${i}: >\n  a\n  b\n`)) },
  { name: "block lists", size: 100_000, text: (n) => note(`x:\n${"- a\n".repeat(n)}`) },
  { name: "list of maps", size: 50_000, text: (n) => note(`x:\n${repeat(n, (i) => `- name: n${i}\n  value: v\n`)}`) },
  { name: "nested as deep as allowed", size: 2_000, text: (n) => note(repeat(n, nested)) },
  { name: "a flow list on one line", size: 200_000, text: (n) => own(`[${"a, ".repeat(n)}b]`) },
  { name: "a flow list on many lines", size: 100_000, text: (n) => own(`[\n${"  a,\n".repeat(n)}  b]`) },
  { name: "a flow map on one line", size: 50_000, text: (n) => own(`{${repeat(n, (i) => `${pair(i)}, `)}z: 1}`) },
  { name: "small flow maps", size: 50_000, text: (n) => note(`x:\n${"- {a: 1, b: [c, d]}\n".repeat(n)}`) },
  {
    name: "flow collections in flow collections",
    size: 5_000,
    text: (n) => own(`[${`${"[".repeat(40)}${"]".repeat(40)}, `.repeat(n)}a]`),
  },
  { name: "flow with comments", size: 50_000, text: (n) => own(`[\n${"  a, # c\n".repeat(n)}  b]`) },
  { name: "brackets closed too far left", size: 2_000, text: (n) => note(repeat(n, (i) => `k${i}: [\n  a\n]\n`)) },
  { name: "a long bracket closed too far left", size: 50_000, text: (n) => own(`[\n${"  a,\n".repeat(n)}]`) },
  { name: "anchors", size: 20_000, text: (n) => note(`x:\n${repeat(n, (i) => `- &a${i} v\n`)}`) },
  { name: "aliases", size: 50_000, text: (n) => note(`x:\n- &a v\n${"- *a\n".repeat(n)}`) },
  { name: "merge keys", size: 10_000, text: (n) => note(`x:\n- &a {k: v}\n${"- {<<: *a, b: c}\n".repeat(n)}`) },
  {
    name: "merges in one map",
    size: 10_000,
    text: (n) => note(`y: &a {k: v}\nx:\n${repeat(n, (i) => `  <<: *a\n  k${i}: v\n`)}`),
  },
  { name: "tags", size: 20_000, text: (n) => note(`x:\n${"- !!str 1\n".repeat(n)}`) },
  { name: "CRLF", size: 50_000, text: (n) => note(repeat(n, (i) => `${pair(i)}\n`)).replaceAll("\n", "\r\n") },
  { name: "CRLF blank lines", size: 200_000, text: (n) => note("\n".repeat(n)).replaceAll("\n", "\r\n") },
  { name: "tabs behind values", size: 20_000, text: (n) => note(repeat(n, (i) => `${pair(i)}\t\n`)) },
  { name: "tabs in one value", size: 500_000, text: (n) => own(`a${"\t".repeat(n)}b`) },
  { name: "lines of tabs", size: 100_000, text: (n) => note("\t\n".repeat(n)) },
  { name: "words that look like keys", size: 100_000, text: (n) => own(`"${"y n,".repeat(n)}"`) },
  { name: "exclamation marks", size: 200_000, text: (n) => own(`"${" !|+".repeat(n)}"`) },
  { name: "braces of templates", size: 200_000, text: (n) => own(`"${"{{ ".repeat(n)}"`) },
  { name: "letters beyond ASCII", size: 1_000_000, text: (n) => own("ü".repeat(n)) },
  { name: "emoji", size: 500_000, text: (n) => own("\u{1F600}".repeat(n / 2)) },
  { name: "directives", size: 100_000, text: (n) => `${"%TAG !a! b\n".repeat(n)}---\n${deployment()}` },
];

/** Shapes that are invalid: the error must come equally fast. */
export const BROKEN: readonly Shape[] = [
  { name: "an open bracket", size: 50_000, text: (n) => own(`[${"a, ".repeat(n)}`) },
  { name: "an open bracket before lines", size: 50_000, text: (n) => own(`[\n${"  a,\n".repeat(n)}`) },
  { name: "an open quote", size: 200_000, text: (n) => own(`"${"a ".repeat(n)}`) },
  { name: "an open quote before lines", size: 50_000, text: (n) => own(`"a\n${"  b\n".repeat(n)}`) },
  { name: "an open quote before keys", size: 20_000, text: (n) => own(`"a\n${repeat(n, (i) => `${pair(i)}\n`)}`) },
  { name: "open brackets only", size: 100_000, text: (n) => "[".repeat(n) },
  { name: "open braces only", size: 100_000, text: (n) => "{".repeat(n) },
  { name: "dashes only", size: 100_000, text: (n) => "- ".repeat(n) },
  { name: "question marks only", size: 100_000, text: (n) => "? ".repeat(n) },
  { name: "colons only", size: 200_000, text: (n) => ": ".repeat(n) },
  { name: "text without a colon", size: 50_000, text: (n) => note("text\n".repeat(n)) },
  { name: "deeper and deeper", size: 1_000, text: (n) => repeat(n, (i) => `${" ".repeat(i)}a:\n`) },
  { name: "tabs as indentation", size: 100_000, text: (n) => note(repeat(n, (i) => `x${i}:\n\t- a\n`)) },
  {
    name: "an unknown alias at the end",
    size: 50_000,
    text: (n) => note(repeat(n, (i) => `${pair(i)}\n`) + "x: *a\n"),
  },
  { name: "a Helm template", size: 50_000, text: (n) => note("{{- if .a }}\n".repeat(n)) },
  {
    name: "aliases of aliases",
    size: 10_000,
    text: (n) => note(`x:\n- &a0 [v, v]\n${repeat(n, (i) => `- &a${i + 1} [*a${i}, *a${i}]\n`)}`),
  },
];

/** A key at the deepest nesting that is allowed. */
function nested(index: number): string {
  const levels = Array.from({ length: 55 }, (_, level) => `${" ".repeat(level)}${level === 0 ? `k${index}` : "a"}:\n`);
  return `${levels.join("")}${" ".repeat(55)}b: c\n`;
}
