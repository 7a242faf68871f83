/** Links between files of the checkout. */

/** The target of a link: a file or folder of the checkout, and the anchor in it. */
export interface Target {
  /** Relative to the checkout. */
  readonly path: string;
  readonly anchor: string;
}

/**
 * Resolves a link in a file; `undefined` if it points outside of the checkout. Throws if it is neither a relative path
 * nor a web address.
 */
export function linkTarget(from: string, href: string): Target | undefined {
  if (/^(https?:\/\/|mailto:)/.test(href)) return undefined;
  if (/^[a-z][a-z+.-]*:|^[/\\]/i.test(href)) {
    throw new Error(`${from} links to "${href}", which is neither a path beside it nor a web address`);
  }
  const [path = "", anchor = ""] = href.split("#");
  const { pathname } = new URL(path, `file:///${from}`);
  return { path: path === "" ? from : decodeURIComponent(pathname).replace(/^\/|\/$/g, ""), anchor };
}

/** Returns the path from one file to another, for use as a link. */
export function relative(from: string, to: string): string {
  const [folders, there] = [from.split("/").slice(0, -1), to.split("/")];
  const different = folders.findIndex((name, i) => name !== there[i]);
  const common = different < 0 ? folders.length : different;
  return [...folders.slice(common).map(() => ".."), ...there.slice(common)].join("/");
}
