/** A short answer; the empty text is no body. */
export function textAnswer(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response {
  const length = String(new TextEncoder().encode(text).length);
  const fields = { "content-type": "text/plain; charset=utf-8", "content-length": length, ...headers };
  return text === "" ? new Response(null, { status }) : new Response(text, { status, headers: fields });
}

/** A refusal as Go's `http.Error` gives it. */
export function refusal(status: number, text: string): Response {
  return textAnswer(status, `${text}\n`, { "x-content-type-options": "nosniff" });
}

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
