/**
 * Our own manifests: `inject/NAME/input.yaml` must become `expected.yaml`, with the report `report.txt`, byte for
 * byte. `options.json` holds options. UPDATE=1 rewrites the expected files. Every YAML output is injected
 * again, and must not change.
 */
import assert from "node:assert/strict";
import { REPORT_LINE } from "../../src/inject/document/report_schema.ts";
import { entryJson, entryLines, changeStream, injection, newInjector, type ReportEntry } from "../../src/inject/mod.ts";

const FOLDER = decodeURIComponent(new URL("./inject/", import.meta.url).pathname);

interface Options {
  readonly output: "yaml" | "json";
  readonly report: "text" | "json";
  readonly native: boolean;
  readonly revision: string;
  readonly namespace?: string;
  /** Another file of the folder `settings`. */
  readonly config: string;
  readonly values: string;
  readonly env: Readonly<Record<string, string>>;
  readonly templateEnv: readonly string[];
  /** A text that neither the output nor the report may have. */
  readonly secret?: string;
}

const DEFAULTS: Options = {
  output: "yaml",
  report: "text",
  native: false,
  revision: "default",
  config: "config.yaml",
  values: "values.yaml",
  env: {},
  templateEnv: [],
};

for (const { name } of [...Deno.readDirSync(FOLDER)].sort((a, b) => a.name < b.name ? -1 : 1)) {
  if (name !== "settings") Deno.test(`changeStream: ${name}`, () => check(`${FOLDER}${name}`));
}

async function check(folder: string): Promise<void> {
  const options = { ...DEFAULTS, ...JSON.parse(readIfThere(`${folder}/options.json`) ?? "{}") };
  const input = await Deno.readTextFile(`${folder}/input.yaml`);
  const { text, report } = await inject(input, options);
  if (options.secret !== undefined) assert.ok(!`${text}${report}`.includes(options.secret), "the secret is shown");
  compare(`${folder}/expected.yaml`, text);
  compare(`${folder}/report.txt`, report);
  if (options.output !== "yaml") return;
  const again = await inject(text, options);
  assert.equal(again.text, text, "a second injection changes the output");
}

function compare(file: string, actual: string): void {
  if (Deno.env.get("UPDATE") === "1") Deno.writeTextFileSync(file, actual);
  assert.equal(actual, Deno.readTextFileSync(file));
}

function readIfThere(path: string): string | undefined {
  try {
    return Deno.readTextFileSync(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function inject(input: string, options: Options): Promise<{ text: string; report: string }> {
  const source = (name: string) => ({ text: Deno.readTextFileSync(`${FOLDER}settings/${name}`), file: name });
  // As the command has it: a note stands before the resource whose template asked.
  const hidden: string[] = [];
  const injector = newInjector({
    config: source(options.config),
    values: source(options.values),
    mesh: source("mesh.yaml"),
    revision: options.revision,
    nativeSidecars: options.native,
    byHand: true,
    env: (name) => options.env[name],
    templateEnv: { names: options.templateEnv, note: (note) => void hidden.push(`note: ${note}`) },
    now: () => new Date(0),
  });
  const lines = options.report === "json"
    ? (entry: ReportEntry) => [entryJson(entry)]
    : (entry: ReportEntry) => entryLines(entry, { severalFiles: false });
  let text = "";
  const report: string[] = injector.notes.map((note) => `note: ${note}`);
  const sink = {
    write: (part: string) => void (text += part),
    report(entry: ReportEntry) {
      report.push(...hidden.splice(0), ...lines(entry));
      REPORT_LINE.parse(JSON.parse(entryJson(entry)));
    },
  };
  const chunks = async function* () {
    yield new TextEncoder().encode(input);
  };
  const { namespace, output } = options;
  await changeStream([{ file: "input.yaml", chunks }], injection(injector), { output, namespace, sink });
  return { text, report: report.map((part) => `${part}\n`).join("") };
}
