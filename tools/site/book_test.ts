import assert from "node:assert/strict";
import { brokenLinks, makeBook, type Sources } from "./book.ts";
import { readSources } from "./files.ts";
import { linkTarget, relative } from "./link.ts";
import { LISTED } from "./navigation.ts";
import { readPage, withLinks } from "./page.ts";

Deno.test("the pages of this checkout are a book: all are in the navigation, no link and no anchor is broken", () => {
  const sources = readSources();
  const book = makeBook(sources);
  const paths = [...sources.pages.keys()].map((path) => path.replace("README.md", "index.md"));
  assert.deepEqual([...book.pages.keys()].sort(), [...paths, "SUMMARY.md"].sort());
  assert.equal(new Set(LISTED).size, LISTED.length);
  assert.deepEqual(book, makeBook(readSources()), "two runs differ");
});

Deno.test("a page with HTML or without a title is refused; comments and code may have it", () => {
  assert.throws(() => readPage("a.md", "# A\n\n<details>x</details>\n"), /a\.md has HTML: "<details>x/);
  assert.throws(() => readPage("a.md", "# A\n\nNAME is <name>\n"), /a\.md has HTML: "<name>/);
  assert.throws(() => readPage("a.md", "## A\n"), /a\.md does not begin with a title/);
  readPage("a.md", "# A\n\n<!-- flags: a - b -->\n\n`<b>`\n\n```\n<pre>\n```\n");
});

Deno.test("headings have GitHub's anchors", () => {
  const { anchors } = readPage("a.md", "# The `--probe` & *more*\n\n## A: b_c (d)\n\n## A: b_c (d)\n");
  assert.deepEqual([...anchors], ["the---probe--more", "a-b_c-d", "a-b_c-d-1"]);
});

Deno.test("withLinks() changes links and nothing else: code and comments keep their bytes", () => {
  const text =
    "# T\n\n`[a](b)` [a](b) ![i](b) [`c`](b#d)\n\n| x | y |\n|---|---|\n| [a](b) | `[a](b)` |\n\n```\n[a](b)\n```\n";
  const page = readPage("a.md", text);
  assert.equal(withLinks(page, ({ href }) => href), text);
  assert.equal(
    withLinks(page, ({ href }) => `../${href}`),
    "# T\n\n`[a](b)` [a](../b) ![i](../b) [`c`](../b#d)\n\n| x | y |\n|---|---|\n| [a](../b) | `[a](b)` |\n\n```\n[a](b)\n```\n",
  );
  assert.match(withLinks(page, () => undefined), /^# T\n\n`\[a\]\(b\)` a i `c`\n/);
});

Deno.test("linkTarget() knows pages, anchors and other sites, and refuses the rest", () => {
  assert.deepEqual(linkTarget("docs/a.md", "b.md#c"), { path: "docs/b.md", anchor: "c" });
  assert.deepEqual(linkTarget("docs/a.md", "#c"), { path: "docs/a.md", anchor: "c" });
  assert.deepEqual(linkTarget("docs/a.md", "../completions/"), { path: "completions", anchor: "" });
  assert.equal(linkTarget("a.md", "https://example.com/a#b"), undefined);
  for (const href of ["javascript:alert(1)", "/etc/passwd", "//example.com", "file:///a", "data:text/html,a"]) {
    assert.throws(() => linkTarget("a.md", href), /neither a path beside it nor a web address/, href);
  }
});

Deno.test("relative() leads from a page to another one", () => {
  const rows = [["README.md", "docs/a.md", "docs/a.md"], ["docs/a.md", "README.md", "../README.md"], [
    "docs/a.md",
    "docs/d/b.md",
    "d/b.md",
  ], ["docs/d/b.md", "docs/a.md", "../a.md"]];
  for (const [from = "", to = "", expected] of rows) assert.equal(relative(from, to), expected);
});

const ALL = Object.fromEntries(LISTED.map((path) => [path, "# T\n"]));

const sources = (pages: Record<string, string>): Sources => ({
  pages: new Map(Object.entries(pages)),
  kind: (path) => path === "LICENSE" ? "file" : undefined,
});

Deno.test("a broken link, a broken anchor and a page outside of the navigation fail, all in one error", () => {
  const broken = {
    ...ALL,
    "README.md": "# T\n\n[a](no.md) [b](docs/check.md#no) [c](LICENSE)\n",
    "docs/other.md": "# O\n",
  };
  assert.throws(() => makeBook(sources(broken)), (error: Error) => {
    assert.deepEqual(error.message.split("\n"), [
      "The navigation (tools/site/navigation.ts) does not have docs/other.md",
      'README.md links to "no.md": there is no such file',
      'README.md links to "docs/check.md#no": that page has no such heading',
    ]);
    return true;
  });
  assert.deepEqual(brokenLinks(new Map(), sources({})), []);
});

Deno.test("links to sources are text, and with a repository links; a folder stands for its README", () => {
  const all = { ...ALL, "README.md": "# T\n\n[c](LICENSE) [d](docs/decisions#t)\n" };
  const page = (repository?: string) => makeBook({ ...sources(all), repository }).pages.get("index.md") ?? "";
  assert.match(page(), /^c \[d\]\(docs\/decisions\/index\.md#t\)$/m);
  assert.match(page("https://example.com/r"), /\[c\]\(https:\/\/example\.com\/r\/LICENSE\)/);
});
