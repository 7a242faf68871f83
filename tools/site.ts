/**
 * Makes the site of the documentation in `dist/site`: a page of HTML for README.md, docs/ and the other texts of the checkout,
 * one template, no script. The same sources give the same bytes. Exit code 1 for a broken link.
 *
 * | flags              | what                                                                                     |
 * |--------------------|------------------------------------------------------------------------------------------|
 * | `--out FOLDER`     | in place of dist/site; what was there is removed                                         |
 * | `--repository URL` | links to sources lead below it: `https://github.com/OWNER/NAME/blob/main`                |
 */
import { parseArgs } from "node:util";
import { say } from "./compile/run.ts";
import { readSources, ROOT } from "./site/files.ts";
import { makeSite } from "./site/site.ts";

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { out: { type: "string", default: `${ROOT}/dist/site` }, repository: { type: "string" } },
  });
  const { out, repository } = values;
  const site = makeSite({ ...readSources(), repository: repository?.replace(/\/$/, "") });
  const encoder = new TextEncoder();
  const files = new Map([...site.pages].map(([path, html]): [string, Uint8Array] => [path, encoder.encode(html)]));
  for (const path of site.copied) files.set(path, await Deno.readFile(`${ROOT}/${path}`));
  await Deno.remove(out, { recursive: true }).catch(() => {});
  for (const [path, content] of files) {
    await Deno.mkdir(`${out}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
    await Deno.writeFile(`${out}/${path}`, content);
  }
  say(`site: ${out}: ${files.size} files`);
  return 0;
}

Deno.exit(
  await main(Deno.args).catch((error: unknown) => {
    say(`site: ${error instanceof Error ? error.message : error}`);
    return 1;
  }),
);
