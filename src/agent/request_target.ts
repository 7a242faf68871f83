/** What a request asks for. `URL` is of no use here: it throws for a Host field that is no host name. */
export interface RequestTarget {
  readonly path: string;
  /** With the `?`; `""` for none. */
  readonly query: string;
}

/** The path and the query of a request's URL. */
export function targetOf(url: string): RequestTarget {
  const [, path = "", query = ""] = /^[a-z]+:\/\/[^/?#]*([^?#]*)(\?[^#]*)?/i.exec(url) ?? [];
  return { path: path === "" ? "/" : path, query };
}
