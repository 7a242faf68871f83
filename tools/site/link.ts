/** Links between files of the checkout. */

/** A file or folder of the checkout, and the anchor in it. */
export interface Target {
  /** From the checkout. */
  readonly path: string;
  readonly anchor: string;
}

/** What a link of a file means; `undefined` if it leads to elsewhere. Throws if it is neither a path beside the file nor a web address. */
export function linkTarget(from: string, href: string): Target | undefined {
  if (/^(https?:\/\/|mailto:)/.test(href)) return undefined;
  if (/^[a-z][a-z+.-]*:|^[/\\]/i.test(href)) {
    throw new Error(`${from} links to "${href}", which is neither a path beside it nor a web address`);
  }
  const [path = "", anchor = ""] = href.split("#");
  const { pathname } = new URL(path, `file:///${from}`);
  return { path: path === "" ? from : decodeURIComponent(pathname).replace(/^\/|\/$/g, ""), anchor };
}

/** The path of one file as a link of another one. */
export function relative(from: string, to: string): string {
  const [folders, there] = [from.split("/").slice(0, -1), to.split("/")];
  const different = folders.findIndex((name, i) => name !== there[i]);
  const common = different < 0 ? folders.length : different;
  return [...folders.slice(common).map(() => ".."), ...there.slice(common)].join("/");
}
