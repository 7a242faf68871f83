/**
 * Asks Go's text/template with sprig (the program of ../gotemplate) what each line of testdata/templates.txt gives and
 * writes testdata/cases.json, which the unit test of sprig replays: `deno run -A test/oracle/sprig/record.ts`.
 */
import { askGo, type GoAnswer } from "./go.ts";

/** Templates between bars are cases of their own, unless they share a variable or a block. */
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
