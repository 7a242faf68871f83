/** Returns a plain text response. If `text` is `""`, the response has no body. */
export function textAnswer(status: number, text: string, headers: Readonly<Record<string, string>> = {}): Response {
  const length = String(new TextEncoder().encode(text).length);
  const fields = { "content-type": "text/plain; charset=utf-8", "content-length": length, ...headers };
  return text === "" ? new Response(null, { status }) : new Response(text, { status, headers: fields });
}

/** Returns an error response in the format of Go's `http.Error`. */
export function refusal(status: number, text: string): Response {
  return textAnswer(status, `${text}\n`, { "x-content-type-options": "nosniff" });
}

/**
 * The path and query of a request. Not a `URL`, because creating a URL fails if the Host header is not a valid host
 * name.
 */
export interface RequestTarget {
  readonly path: string;
  readonly query: string;
}

/** Parses a request's URL. */
export function targetOf(url: string): RequestTarget {
  const [, path = "", query = ""] = /^[a-z]+:\/\/[^/?#]*([^?#]*)(\?[^#]*)?/i.exec(url) ?? [];
  return { path: path === "" ? "/" : path, query };
}
