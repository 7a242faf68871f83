// Records Go's answers to the seeds: tools/deno run -A test/oracle/gotemplate/record.ts
import { goAnswers } from "./oracle.ts";
import { seeds } from "./seeds.ts";

const requests = seeds();
const answers = await goAnswers(requests);
const lines = requests.map((request, i) => JSON.stringify({ ...request, ...answers[i] }));
await Deno.writeTextFile(new URL("testdata/templates.json", import.meta.url), `[\n${lines.join(",\n")}\n]\n`);
