/** Makes the sources of the book, from which mdBook builds the site, out of the pages of the checkout. */
import { LISTED, summary } from "./navigation.ts";
import { linkTarget, relative } from "./link.ts";
import { linksOf, type Page, readPage, withLinks } from "./page.ts";

/** The inputs of the book. */
export interface Sources {
  /** Texts of all pages, by path in the checkout. */
  readonly pages: ReadonlyMap<string, string>;
  /** The type of a path in the checkout; `undefined` if it does not exist. */
  readonly kind: (path: string) => "file" | "folder" | undefined;
  /**
   * The URL of the sources, such as `https://github.com/OWNER/NAME/blob/main`; if it is missing, links to sources
   * become plain text.
   */
  readonly repository?: string | undefined;
}

/** The files of the book. */
export interface Book {
  /**
   * Markdown pages by path, as in the checkout. Only `README.md` becomes `index.md`, because mdBook resolves links to a
   * README wrongly.
   */
  readonly pages: ReadonlyMap<string, string>;
  /** Paths of files that are copied unchanged. */
  readonly copied: readonly string[];
}

/** Files of the site that pages show or link to. */
const COPIED = /^docs\/.*\.(?:svg|png|json|txt)$/;

/** Makes the book. Throws a single error with all broken links and all pages that the navigation lacks. */
export function makeBook(sources: Sources): Book {
  const pages = new Map([...sources.pages].map(([path, text]) => [path, readPage(path, text)]));
  const problems = [...unlisted(pages), ...brokenLinks(pages, sources)];
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const copied = new Set<string>();
  const texts = [...pages].map(([path, page]): [string, string] => [
    inBook(path),
    withLinks(page, ({ href }) => {
      const target = linkTarget(path, href);
      if (target === undefined) return href;
      const isCopied = COPIED.test(target.path) && sources.kind(target.path) === "file";
      if (isCopied) copied.add(target.path);
      const to = pageAt(target.path, pages);
      if (!isCopied && !pages.has(to)) return sourceLink(target.path, sources);
      return `${to === path ? "" : relative(path, inBook(to))}${target.anchor === "" ? "" : `#${target.anchor}`}`;
    }),
  ]);
  return { pages: new Map([...texts, ["SUMMARY.md", summary(inBook)]]), copied: [...copied].sort() };
}

function inBook(path: string): string {
  return path.replace(/(^|\/)README\.md$/, "$1index.md");
}

/** A link to a folder means the README in it. */
function pageAt(path: string, pages: ReadonlyMap<string, unknown>): string {
  return pages.has(`${path}/README.md`) ? `${path}/README.md` : path;
}

function sourceLink(path: string, { repository }: Sources): string | undefined {
  return repository === undefined ? undefined : `${repository}/${path}`;
}

function unlisted(pages: ReadonlyMap<string, Page>): string[] {
  const without = [...pages.keys()].filter((path) => !LISTED.includes(path));
  const absent = LISTED.filter((path) => !pages.has(path));
  return [
    ...without.map((path) => `The navigation (tools/site/navigation.ts) does not have ${path}`),
    ...absent.map((path) => `The navigation (tools/site/navigation.ts) has ${path}, which does not exist`),
  ];
}

/** Returns a message for each link whose file or heading does not exist. */
export function brokenLinks(pages: ReadonlyMap<string, Page>, { kind }: Pick<Sources, "kind">): string[] {
  return [...pages].flatMap(([path, from]) =>
    linksOf(from).flatMap(({ href }) => {
      const target = linkTarget(path, href);
      if (target === undefined) return [];
      const page = pages.get(pageAt(target.path, pages));
      if (page === undefined && kind(target.path) === undefined) {
        return [`${path} links to "${href}": there is no such file`];
      }
      const hasAnchor = target.anchor === "" || page?.anchors.has(target.anchor) === true;
      return hasAnchor ? [] : [`${path} links to "${href}": that page has no such heading`];
    })
  );
}
