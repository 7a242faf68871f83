/**
 * Runs each line of testdata/templates.txt in Go's text/template with sprig (the program in ../gotemplate), and writes
 * the results to testdata/cases.json for the unit test of sprig: `deno run -A test/oracle/sprig/record.ts`.
 */
import { askGo, type GoAnswer } from "./go.ts";

/** Splits a line into cases at `|`, unless the templates share a variable or a block. */
function casesOf(line: string): string[] {
  if (/\$\w* :=|\{\{ (range|with) |set \$/.test(line)) return [line];
  return line.split("}}|{{").map((part, i, all) => (i > 0 ? "{{" : "") + part + (i < all.length - 1 ? "}}" : ""));
}

const here = new URL("./testdata/", import.meta.url);
const lines = Deno.readTextFileSync(new URL("templates.txt", here)).split("\n");
const templates = lines.filter((line) => line !== "" && !line.startsWith("#")).flatMap(casesOf);
const data: unknown = JSON.parse(Deno.readTextFileSync(new URL("data.json", here)));
const answers = await askGo(templates.map((template) => ({ name: "t", template, data })));
const rows = templates.map((template, i): string =>
  JSON.stringify([template, answers[i] satisfies GoAnswer | undefined])
);
Deno.writeTextFileSync(new URL("cases.json", here), `[\n${rows.join(",\n")}\n]\n`);
