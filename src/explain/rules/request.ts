/** An HTTP request as Envoy's matchers see it. */
import type { Connection } from "../question/question.ts";

export interface Request {
  /** The Host header, or `:authority`, in upper or lower case as the client sent it. */
  readonly authority: string;
  readonly method: string;
  /** Path with the query. */
  readonly path: string;
  /** Header values by lower-case name, in order. Includes pseudo-headers. */
  readonly headers: ReadonlyMap<string, readonly string[]>;
  readonly isTls: boolean;
  readonly hasClientCertificate: boolean;
}

/** Returns the request of a question. `authority` is the default Host header. */
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

/** Returns the values of a header, joined with commas as in `HeaderUtility::getAllOfHeaderAsString`. */
export function headerText({ headers }: Request, name: string): string | undefined {
  return headers.get(name)?.join(",");
}

/** Returns the path without query and fragment. */
export function pathOnly(path: string): string {
  const end = path.search(/[?#]/);
  return end < 0 ? path : path.slice(0, end);
}

/** Returns the first value of a query parameter, without decoding; `undefined` if absent. */
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

interface PathOptions {
  readonly normalizesPath: boolean;
  readonly mergesSlashes: boolean;
}

/** Returns the path for the route search, with the query unchanged. */
export function normalizePath(path: string, { normalizesPath, mergesSlashes }: PathOptions): string {
  const own = pathOnly(path);
  const rest = path.slice(own.length);
  const canonical = normalizesPath ? canonicalPath(own) : own;
  return `${mergesSlashes ? canonical.replaceAll(/\/{2,}/g, "/") : canonical}${rest}`;
}

/** Decodes unreserved characters, resolves dot segments (RFC 3986, 6.2.2), and replaces backslashes with slashes. */
function canonicalPath(path: string): string {
  const decoded = path.replaceAll("\\", "/").replaceAll(/%([0-9a-fA-F]{2})/g, (code, digits: string) => {
    const character = String.fromCharCode(parseInt(digits, 16));
    return /[A-Za-z0-9._~-]/.test(character) ? character : code;
  });
  const kept: string[] = [];
  const segments = decoded.split("/").slice(1);
  segments.forEach((segment, index) => {
    const isLast = index === segments.length - 1;
    if (segment === "..") kept.pop();
    else if (segment !== ".") kept.push(segment);
    if (isLast && (segment === "." || segment === "..")) kept.push("");
  });
  return `/${kept.join("/")}`;
}
