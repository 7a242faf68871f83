/** The pages of the checkout as a static site. */
import { LISTED, PARTS } from "./navigation.ts";
import { linkTarget, relative } from "./link.ts";
import { type Page, pageHtml, readPage } from "./page.ts";
import { document, type FrameLink, type NavigationPart } from "./template.ts";

/** What the site is made from. */
export interface Sources {
  /** Texts of all pages, by path from the checkout. */
  readonly pages: ReadonlyMap<string, string>;
  /** What is at a path of the checkout. */
  readonly kind: (path: string) => "file" | "folder" | undefined;
  /** The version that the pages describe. */
  readonly version: string;
  /** Where sources can be read, such as `https://github.com/OWNER/NAME/blob/main`; without it links to them are plain text. */
  readonly repository?: string | undefined;
}

/** The site. */
export interface Site {
  /** HTML by path below the site. */
  readonly pages: ReadonlyMap<string, string>;
  /** Paths of files that are copied as they are. */
  readonly copied: readonly string[];
}

/** Files that pages show or link to and that belong to the site. */
const COPIED = /^docs\/.*\.(?:svg|png|json)$/;

/** Makes the site. Throws one error with all broken links, and pages that the navigation does not have. */
export function makeSite(sources: Sources): Site {
  const pages = new Map([...sources.pages].map(([path, text]): [string, Page] => [path, readPage(path, text)]));
  const problems = [...unlisted(pages), ...brokenLinks(pages, sources)];
  if (problems.length > 0) throw new Error(problems.join("\n"));
  const copied = new Set<string>();
  const html = [...pages].map(([path, page]): [string, string] => {
    const body = pageHtml(page, (href) => {
      const target = linkTarget(path, href);
      if (target === undefined) return href;
      if (COPIED.test(target.path) && sources.kind(target.path) === "file") copied.add(target.path);
      else if (!pages.has(pageAt(target.path, pages))) return sourceLink(target.path, sources);
      const anchor = target.anchor === "" ? "" : `#${target.anchor}`;
      return relative(outputPath(path), outputPath(pageAt(target.path, pages))) + anchor;
    });
    const at = LISTED.indexOf(path);
    const neighbours = {
      before: linkTo(path, LISTED[at - 1], pages),
      after: at < 0 ? undefined : linkTo(path, LISTED[at + 1], pages),
    };
    const text = document({
      title: page.title,
      version: sources.version,
      body,
      navigation: navigationOf(path, pages),
      ...neighbours,
    });
    return [outputPath(path), text];
  });
  return { pages: new Map(html), copied: [...copied].sort() };
}

/** Where a page is on the site; another file stays where it is. */
export function outputPath(path: string): string {
  return path === "README.md" ? "index.html" : path.replace(/\.md$/, ".html");
}

/** A folder stands for its README. */
function pageAt(path: string, pages: ReadonlyMap<string, unknown>): string {
  return pages.has(`${path}/README.md`) ? `${path}/README.md` : path;
}

function sourceLink(path: string, { repository }: Sources): string | undefined {
  return repository === undefined ? undefined : `${repository}/${path}`;
}

function navigationOf(path: string, pages: ReadonlyMap<string, Page>): NavigationPart[] {
  return PARTS.map(({ title, pages: listed }) => ({
    title,
    links: listed.flatMap((each) => {
      const [link, isCurrent] = [linkTo(path, each, pages), each === path];
      return link === undefined ? [] : [{ ...link, isCurrent, below: isCurrent ? sectionsOf(pages.get(each)) : [] }];
    }),
  }));
}

function sectionsOf(page: Page | undefined): FrameLink[] {
  return (page?.headings ?? []).filter(({ depth }) => depth === 2).map(({ title, id }) => ({ title, href: `#${id}` }));
}

function linkTo(from: string, to: string | undefined, pages: ReadonlyMap<string, Page>): FrameLink | undefined {
  const page = to === undefined ? undefined : pages.get(to);
  if (to === undefined || page === undefined) return undefined;
  return { title: page.title, href: relative(outputPath(from), outputPath(to)) };
}

function unlisted(pages: ReadonlyMap<string, Page>): string[] {
  const without = [...pages.keys()].filter((path) => !LISTED.includes(path) && !path.startsWith("docs/decisions/"));
  const absent = LISTED.filter((path) => !pages.has(path));
  return [
    ...without.map((path) => `The navigation (tools/site/navigation.ts) does not have ${path}`),
    ...absent.map((path) => `The navigation (tools/site/navigation.ts) has ${path}, which does not exist`),
  ];
}

/** A line for each link that leads to no file, or to no heading. */
export function brokenLinks(pages: ReadonlyMap<string, Page>, { kind }: Pick<Sources, "kind">): string[] {
  return [...pages].flatMap(([path, { links }]) =>
    links.flatMap(({ href }) => {
      const target = linkTarget(path, href);
      if (target === undefined) return [];
      const page = pages.get(target.path);
      if (page === undefined && kind(target.path) === undefined) {
        return [`${path} links to "${href}": there is no such file`];
      }
      const hasAnchor = target.anchor === "" || page?.headings.some(({ id }) => id === target.anchor) === true;
      return hasAnchor ? [] : [`${path} links to "${href}": that page has no such heading`];
    })
  );
}
