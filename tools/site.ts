/**
 * Builds the documentation site in `dist/site` with mdBook, from README.md, docs/ and the other pages of the checkout.
 * The site has a search, and works from files and below any path of a web server. The same sources give the same
 * bytes. Exits with 1 if a link is broken.
 *
 * | flags              | what                                                                                     |
 * |--------------------|------------------------------------------------------------------------------------------|
 * | `--out FOLDER`     | in place of dist/site; what was there is removed                                         |
 * | `--repository URL` | links to sources lead below it: `https://github.com/OWNER/NAME/blob/main`                |
 */
import { parseArgs } from "node:util";
import { mustRun, say } from "./compile/run.ts";
import { makeBook } from "./site/book.ts";
import { readSources, ROOT } from "./site/files.ts";
import { getMdbook } from "./site/mdbook.ts";

/** Files that mdBook needs next to its sources. */
const BESIDE = ["book.toml", "site.css", "site.js"];

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { out: { type: "string", default: `${ROOT}/dist/site` }, repository: { type: "string" } },
  });
  const { out, repository } = values;
  const { pages, copied } = makeBook({ ...readSources(), repository: repository?.replace(/\/$/, "") });
  const mdbook = await getMdbook();
  const folder = await Deno.makeTempDir({ prefix: "site-" });
  try {
    for (const name of BESIDE) await Deno.copyFile(`${ROOT}/tools/site/${name}`, `${folder}/${name}`);
    for (const [path, text] of pages) await Deno.writeTextFile(await placeOf(`${folder}/src/${path}`), text);
    for (const path of copied) await Deno.copyFile(`${ROOT}/${path}`, await placeOf(`${folder}/src/${path}`));
    const said = await mustRun([mdbook, "build", folder]);
    if (/^\s*(?:WARN|ERROR)/m.test(said)) throw new Error(said.trim());
    await Deno.remove(out, { recursive: true }).catch(() => {});
    await mustRun(["cp", "-r", `${folder}/out`, await placeOf(out)]);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  say(`site: ${out}/index.html: ${pages.size - 1} pages`);
  return 0;
}

/** Creates the folder of a path, and returns the path. */
async function placeOf(path: string): Promise<string> {
  await Deno.mkdir(path.replace(/\/[^/]*$/, ""), { recursive: true });
  return path;
}

Deno.exit(
  await main(Deno.args).catch((error: unknown) => {
    say(`site: ${error instanceof Error ? error.message : error}`);
    return 1;
  }),
);
