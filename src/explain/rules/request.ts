/** A request of HTTP as Envoy's matchers see it. */
import type { Connection } from "../question/question.ts";

export interface Request {
  /** The Host header, or `:authority`, in the case of the client. */
  readonly authority: string;
  readonly method: string;
  /** With the query. */
  readonly path: string;
  /** Values by name in lower case, in their order; pseudo headers too. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  /** It came with TLS. */
  readonly isTls: boolean;
  /** The client showed a certificate. */
  readonly hasClientCertificate: boolean;
}

/** The request of a question. `authority`: what the Host header is where none is given. */
export function requestOf(
  { headers, method, path }: Connection,
  authority: string,
  tls: Pick<Request, "isTls" | "hasClientCertificate">,
): Request {
  const given = new Map<string, string[]>();
  for (const { name, value } of headers) given.set(name, [...given.get(name) ?? [], value]);
  const host = (given.get("host") ?? given.get(":authority"))?.[0] ?? authority;
  given.delete("host");
  const pseudo: readonly (readonly [string, string])[] = [
    [":authority", host],
    [":method", method],
    [":path", path],
    [":scheme", tls.isTls ? "https" : "http"],
    ["x-forwarded-proto", tls.isTls ? "https" : "http"],
  ];
  for (const [name, value] of pseudo) {
    if (name !== "x-forwarded-proto" || !given.has(name)) given.set(name, [value]);
  }
  return { authority: host, method, path, headers: given, ...tls };
}

/** The values of a header as one text, as `HeaderUtility::getAllOfHeaderAsString`. */
export function headerText({ headers }: Request, name: string): string | undefined {
  return headers.get(name)?.join(",");
}

/** The path without query and fragment. */
export function pathOnly(path: string): string {
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}

/** The first value of a query parameter, as it stands in the URL; `undefined` if it is absent. */
export function queryValue(path: string, name: string): string | undefined {
  const start = path.indexOf("?");
  if (start < 0) return undefined;
  const [query = ""] = path.slice(start + 1).split("#", 1);
  for (const part of query.split("&")) {
    const equals = part.indexOf("=");
    if ((equals < 0 ? part : part.slice(0, equals)) === name) return equals < 0 ? "" : part.slice(equals + 1);
  }
  return undefined;
}
