/** The examples of README.md and docs/ do what the pages say, those without a cluster. UPDATE=1 writes the outputs anew. */
import { pagesWith, runPage } from "../support/docs_page_run.ts";

for (const path of pagesWith(/^```console run(?! cluster)/m)) {
  const name = `the examples of ${path.split("/").at(-1)} do what the page says`;
  Deno.test(name, (t) => runPage(path, t, { without: "cluster" }));
}
