import assert from "node:assert/strict";
import { readSources } from "./files.ts";
import { linkTarget, relative } from "./link.ts";
import { LISTED } from "./navigation.ts";
import { pageHtml, readPage } from "./page.ts";
import { brokenLinks, makeSite, type Sources } from "./site.ts";

const html = (text: string, resolve: (href: string) => string | undefined = (href) => href) =>
  pageHtml(readPage("a.md", text), resolve);

Deno.test("the pages of this checkout are a site: all are in the navigation, no link and no anchor is broken", () => {
  const sources = readSources();
  const site = makeSite(sources);
  assert.equal(site.pages.size, sources.pages.size);
  assert.deepEqual(site, makeSite(readSources()), "two runs differ");
  for (const [path, text] of site.pages) {
    assert.match(
      text,
      /^<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<meta name="viewport" /,
      path,
    );
    assert.match(text, /<title>[^<]+<\/title>/, path);
    assert.doesNotMatch(text, /<script|\.md[#"]|href="http:/, path);
  }
});

Deno.test("links on the site lead to pages, anchors and files of the site", () => {
  const { pages, copied } = makeSite(readSources());
  const ids = new Map(
    [...pages].map(([path, text]) => [path, new Set([...text.matchAll(/ id="([^"]*)"/g)].map(([, id = ""]) => id))]),
  );
  for (const [path, text] of pages) {
    for (const [, href = ""] of text.matchAll(/ (?:href|src)="([^"]*)"/g)) {
      const target = linkTarget(path, href);
      if (target === undefined) continue;
      const anchors = ids.get(target.path);
      assert.ok(anchors !== undefined || copied.includes(target.path), `${path}: ${href}`);
      assert.ok(target.anchor === "" || anchors?.has(target.anchor), `${path}: ${href}`);
    }
  }
});

Deno.test("pageHtml() shows HTML as text and leaves comments out", () => {
  const text = html(
    '# A <b>\n\n<script>alert(1)</script>\n\nx <i>y</i> `<u>` & "z"\n\n<!-- flags: a -->\n\n```\n<pre> &amp;\n```\n',
  );
  assert.doesNotMatch(text, /<(script|b|i|u)>|flags/);
  assert.match(text, /&lt;script&gt;alert\(1\)&lt;\/script&gt;/);
  assert.match(text, /<pre tabindex="0"><code>&lt;pre&gt; &amp;amp;\n<\/code><\/pre>/);
});

Deno.test("headings have GitHub's anchors", () => {
  const { headings, title } = readPage("a.md", "# The `--probe` & *more*\n\n## A: b_c (d)\n\n## A: b_c (d)\n");
  assert.equal(title, "The --probe & more");
  assert.deepEqual(headings.map(({ id }) => id), ["the---probe--more", "a-b_c-d", "a-b_c-d-1"]);
});

Deno.test("tables scroll in a box of their own, and an empty head is left out", () => {
  const text = html("# T\n\n| | |\n|---|---|\n| a \\| b | `c` |\n");
  assert.match(
    text,
    /<div class="table" tabindex="0"><table>\n<tbody>\n<tr><td>a \| b<\/td>\n<td><code>c<\/code><\/td>/,
  );
  assert.doesNotMatch(text, /<thead>/);
});

Deno.test("a page without a title is refused", () => {
  assert.throws(() => readPage("a.md", "## A\n"), /a\.md does not begin with a title/);
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
  const rows = [["index.html", "docs/a.html", "docs/a.html"], ["docs/a.html", "index.html", "../index.html"], [
    "docs/a.html",
    "docs/d/b.html",
    "d/b.html",
  ], ["docs/d/b.html", "docs/a.html", "../a.html"]];
  for (const [from = "", to = "", expected] of rows) assert.equal(relative(from, to), expected);
});

const sources = (pages: Record<string, string>): Sources => ({
  pages: new Map(Object.entries(pages)),
  kind: (path) => path === "LICENSE" ? "file" : undefined,
  version: "1.2.3",
});

Deno.test("a broken link, a broken anchor and a page outside of the navigation fail, all in one error", () => {
  const all = Object.fromEntries(LISTED.map((path) => [path, "# T\n"]));
  const broken = {
    ...all,
    "README.md": "# T\n\n[a](no.md) [b](docs/check.md#no) [c](LICENSE)\n",
    "docs/other.md": "# O\n",
  };
  assert.throws(() => makeSite(sources(broken)), (error: Error) => {
    assert.deepEqual(error.message.split("\n"), [
      "The navigation (tools/site/navigation.ts) does not have docs/other.md",
      'README.md links to "no.md": there is no such file',
      'README.md links to "docs/check.md#no": that page has no such heading',
    ]);
    return true;
  });
  assert.deepEqual(brokenLinks(new Map(), sources({})), []);
});

Deno.test("links to sources are text, and with a repository links", () => {
  const all = { ...Object.fromEntries(LISTED.map((path) => [path, "# T\n"])), "README.md": "# T\n\n[c](LICENSE)\n" };
  const page = (repository?: string) => makeSite({ ...sources(all), repository }).pages.get("index.html") ?? "";
  assert.match(page(), /<p>c<\/p>/);
  assert.match(page("https://example.com/r"), /<a href="https:\/\/example\.com\/r\/LICENSE">c<\/a>/);
});
