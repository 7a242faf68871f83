/** Normalizes a path before the route search (source/common/http/path_utility.cc). */
import { pathOnly } from "./request.ts";

export interface PathOptions {
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
