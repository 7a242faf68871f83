/** The site of the documentation as a reader has it: its links, its search, by keyboard and screen reader, narrow and on paper. */
import assert from "node:assert/strict";
import axe from "npm:axe-core@4.14.1";
import { z } from "zod";
import { type Browser, chromium, type Page } from "npm:playwright-core@1.65.1";
import { linkTarget } from "../../tools/site/link.ts";
import { installedMdbook } from "../../tools/site/mdbook.ts";
import { filesBelow } from "../house/source.ts";
import { isLong } from "../support/long.ts";
import { needsProgram, testWhen } from "../support/test_when.ts";

const ROOT = decodeURIComponent(new URL("../../", import.meta.url).pathname);
const noMdbook = await installedMdbook() === undefined ? "mdBook is not here: tools/deno task site gets it" : undefined;
const noBrowser = noMdbook ?? needsProgram("chromium");

/** Pages that have all that there is: tables, code, pictures, long lines. */
const KINDS = ["index", "docs/start", "docs/commands", "docs/config", "docs/explain", "docs/decisions/index"];

let folder = "";

Deno.test.beforeAll(async () => {
  if (noMdbook !== undefined) return;
  folder = await Deno.makeTempDir({ prefix: "mesh-site-" });
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--no-check", "--allow-all", `${ROOT}tools/site.ts`, "--out", folder],
  }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
});

Deno.test.afterAll(async () => {
  if (folder !== "") await Deno.remove(folder, { recursive: true });
});

function pagesOf(folder: string): string[] {
  return [...walk(folder)].filter((path) => path.endsWith(".html")).sort();
}

function* walk(folder: string, below = ""): Generator<string> {
  for (const { name, isDirectory } of Deno.readDirSync(`${folder}/${below}`)) {
    if (isDirectory) yield* walk(folder, `${below}${name}/`);
    else yield below + name;
  }
}

testWhen(
  noMdbook,
  "all pages are on the site; links lead to pages, anchors and files of it, and nothing comes from elsewhere",
  () => {
    const files = new Set(walk(folder));
    const texts = new Map(pagesOf(folder).map((path) => [path, Deno.readTextFileSync(`${folder}/${path}`)]));
    const docs = filesBelow("docs").filter((path) => path.endsWith(".md") && !path.endsWith("README.md"));
    for (const path of docs) assert.ok(files.has(path.replace(/md$/, "html")), path);
    for (const [path, text] of texts) {
      assert.doesNotMatch(text, /<(?:script|link|img)[^>]* (?:src|href)="https?:/, path);
      for (const [, href = ""] of text.matchAll(/<(?:a|img|link|script)\b[^>]* (?:href|src)="([^"]*)"/g)) {
        if (path === "404.html" || path === "print.html") continue;
        const target = linkTarget(path, href);
        if (target === undefined) continue;
        assert.ok(files.has(target.path), `${path}: ${href}`);
        const has = target.anchor === "" || texts.get(target.path)?.includes(` id="${target.anchor}"`);
        assert.ok(has, `${path}: ${href}`);
      }
    }
  },
);

async function pathOf(program: string): Promise<string> {
  const { stdout } = await new Deno.Command("which", { args: [program] }).output();
  return new TextDecoder().decode(stdout).trim();
}

async function withBrowser(body: (browser: Browser) => Promise<void>): Promise<void> {
  const browser = await chromium.launch({ executablePath: await pathOf("chromium"), args: ["--no-sandbox"] });
  try {
    await body(browser);
  } finally {
    await browser.close();
  }
}

const FOUND = z.object({
  violations: z.array(z.object({ id: z.string(), nodes: z.array(z.object({ html: z.string() })) })),
});

/** All that `axe` looks for; of a page that only has other colors, what colors decide. */
const ALL_RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/** What `axe` finds wrong, a line each. */
async function problemsOf(page: Page, rules: readonly string[]): Promise<string[]> {
  await page.evaluate(axe.source);
  const { violations } = FOUND.parse(await page.evaluate(`axe.run(${JSON.stringify({ runOnly: rules })})`));
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
}

testWhen(noBrowser, "pages are accessible, light and dark, by axe", () =>
  withBrowser(async (browser) => {
    const page = await browser.newPage();
    const all = pagesOf(folder).filter((path) => !/^(?:404|print|toc)\.html$/.test(path));
    for (const path of isLong() ? all : KINDS.map((name) => `${name}.html`)) {
      for (const value of ["light", "dark"] as const) {
        await page.emulateMedia({ colorScheme: value });
        await page.goto(`file://${folder}/${path}`);
        const theme = value === "dark" ? "navy" : "light";
        const classes = await page.evaluate("document.documentElement.className");
        assert.match(String(classes), new RegExp(`\\b${theme}\\b`), path);
        assert.deepEqual(
          await problemsOf(page, value === "light" || isLong() ? ALL_RULES : COLOR_RULES),
          [],
          `${path}, ${value}`,
        );
      }
    }
  }));

/** Finds a page by the keyboard alone, in the dark. */
async function searches(page: Page, url: string): Promise<void> {
  await page.emulateMedia({ colorScheme: "dark" });
  await page.goto(`${url}/index.html`);
  // Behind the links of the pages, which are in front of it where they are shown.
  const focused = () => page.evaluate("document.activeElement?.id");
  for (let tabs = 0; await focused() !== "mdbook-sidebar-toggle"; tabs++) {
    assert.ok(tabs < 100, "Tab never reaches the button of the sidebar");
    await page.keyboard.press("Tab");
  }
  await page.keyboard.press("/");
  await page.waitForSelector("#mdbook-searchbar");
  await page.keyboard.type("istio-iptables drop-in");
  await page.waitForSelector("#mdbook-searchresults a");
  assert.deepEqual(await problemsOf(page, COLOR_RULES), []);
  await page.keyboard.press("ArrowDown");
  await Promise.all([page.waitForURL((next) => !next.pathname.endsWith("/index.html")), page.keyboard.press("Enter")]);
  assert.ok(page.url().startsWith(`${url}/`), page.url());
  await page.waitForSelector("main mark", { timeout: 10_000 });
}

testWhen(
  noBrowser,
  "search by keyboard, from files and below a path of a server",
  () =>
    withBrowser(async (browser) => {
      const page = await browser.newPage();
      await searches(page, `file://${folder}`);
      await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
        const path = new URL(request.url).pathname.replace("/docs/mesh", "");
        const type = path.endsWith(".js") ? "text/javascript" : path.endsWith(".css") ? "text/css" : "text/html";
        const file = await Deno.readFile(`${folder}${path}`).catch(() => undefined);
        return file === undefined
          ? new Response("", { status: 404 })
          : new Response(file, { headers: { "content-type": type } });
      });
      await searches(page, `http://127.0.0.1:${server.addr.port}/docs/mesh`);
    }),
);

/** Whether the list of pages is shown at first and after each click on its button, by the width of the window. */
const SIDEBAR = [[360, ["hidden", "visible", "hidden"]], [1280, ["visible", "hidden", "visible"]]] as const;

testWhen(
  noBrowser,
  "the list of pages opens and closes, on a phone and on a wide screen",
  () =>
    withBrowser(async (browser) => {
      for (const [width, states] of SIDEBAR) {
        const page = await browser.newPage({ viewport: { width, height: 900 } });
        await page.goto(`file://${folder}/index.html`);
        for (const [at, state] of states.entries()) {
          if (at > 0) await page.click("#mdbook-sidebar-toggle");
          await page.locator("#mdbook-sidebar a", { hasText: "On call" }).waitFor({ state, timeout: 10_000 });
        }
      }
    }),
);

/** Flags that a line break divides, and sentences in a column of a word or two. */
const HARD_TO_READ = `(() => {
  const broken = [];
  const walker = document.createTreeWalker(document.querySelector("main"), NodeFilter.SHOW_TEXT);
  for (let text = walker.nextNode(); text !== null; text = walker.nextNode()) {
    for (const flag of text.data.matchAll(/--[a-z-]{2,20}(?![a-z-])/g)) {
      const range = document.createRange();
      range.setStart(text, flag.index);
      range.setEnd(text, flag.index + flag[0].length);
      if (new Set([...range.getClientRects()].map(({ top }) => top)).size > 1) broken.push(flag[0]);
    }
  }
  const cells = [...document.querySelectorAll("td")].filter((cell) => cell.textContent.length > 40 && cell.clientWidth < 100);
  return [...broken, ...cells.map((cell) => cell.textContent)];
})()`;

testWhen(noBrowser, "pages fit 360 and 1280 pixels, and paper", () =>
  withBrowser(async (browser) => {
    const page = await browser.newPage();
    for (const [width, name] of [360, 1280].flatMap((width) => KINDS.map((name) => [width, name] as const))) {
      await page.setViewportSize({ width, height: 900 });
      await page.goto(`file://${folder}/${name}.html`);
      const needed = Number(await page.evaluate("document.documentElement.scrollWidth"));
      assert.ok(needed <= width, `${name} at ${width}: ${needed}`);
      assert.deepEqual(await page.evaluate(HARD_TO_READ), [], `${name} at ${width}`);
    }
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    await page.goto(`file://${folder}/docs/config.html`);
    const styles = (query: string, name: string) =>
      page.evaluate(
        `[...new Set([...document.querySelectorAll("${query}")].map((box) => getComputedStyle(box).${name}))]`,
      );
    assert.deepEqual(await styles("#mdbook-sidebar, #mdbook-menu-bar", "display"), ["none"]);
    assert.deepEqual(await styles("pre > code", "whiteSpace"), ["pre-wrap"]);
    assert.deepEqual(await styles("main :is(h1 a, p, td, pre > code, pre span)", "color"), ["rgb(0, 0, 0)"]);
  }));
