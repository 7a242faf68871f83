/** The frame of every page: one template, its CSS in it, no script. */
import { escaped } from "./page.ts";
import STYLE from "./style.css" with { type: "text" };

/** A link of the frame. */
export interface FrameLink {
  readonly title: string;
  readonly href: string;
}

/** Pages under one title, as one page links to them. */
export interface NavigationPart {
  readonly title: string;
  readonly links: readonly (FrameLink & { readonly isCurrent: boolean; readonly below: readonly FrameLink[] })[];
}

/** What the template is filled with. */
export interface Document {
  readonly title: string;
  readonly version: string;
  /** HTML. */
  readonly body: string;
  readonly navigation: readonly NavigationPart[];
  readonly before?: FrameLink | undefined;
  readonly after?: FrameLink | undefined;
}

/** A whole page of HTML. */
export function document({ title, version, body, navigation, before, after }: Document): string {
  const name = "kubectl-mesh";
  const full = title === name ? name : `${title} – ${name}`;
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self'; style-src 'unsafe-inline'">
<meta name="color-scheme" content="light dark">
<title>${escaped(full)}</title>
<style>
${STYLE}</style>
</head>
<body>
<a class="skip" href="#pages">All pages</a>
<main>
${body}<p class="turn">${turn("Before", before)}${turn("Next", after)}</p>
</main>
<nav id="pages" aria-label="Pages">
<p class="name">${name} ${escaped(version)}</p>
${navigation.map(part).join("")}</nav>
</body>
</html>
`;
}

function part({ title, links }: NavigationPart): string {
  const items = links.map(({ isCurrent, below, ...link }) =>
    `<li>${anchor(link, isCurrent)}${list(below.map((each) => `<li>${anchor(each)}</li>\n`))}</li>\n`
  );
  return `<p class="part">${escaped(title)}</p>\n${list(items)}`;
}

function list(items: readonly string[]): string {
  return items.length === 0 ? "" : `<ul>\n${items.join("")}</ul>\n`;
}

function anchor({ title, href }: FrameLink, isCurrent = false): string {
  return `<a href="${escaped(href)}"${isCurrent ? ' aria-current="page"' : ""}>${escaped(title)}</a>`;
}

function turn(word: string, link: FrameLink | undefined): string {
  return link === undefined ? "" : `<span>${word}: ${anchor(link)}</span>`;
}
