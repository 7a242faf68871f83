/** sprig's `urlParse` and `urlJoin`, with the rules of Go's net/url. */
import { quote } from "../../fmt/quote.ts";
import { kindOf } from "../../kind.ts";
import { type FuncMap, type GoMap, type GoValue, pure } from "../../../go_value.ts";
import { MAP, mapOf, STRING, text } from "../args.ts";
import { fromBinary, toBinary } from "./octets.ts";

/** Returns the functions of this file by name. */
export function urlFunctions(): FuncMap {
  return {
    urlParse: pure([STRING], (url) => dictOf(parseOrFail(text(url), "unable to parse url"))),
    urlJoin: pure([MAP], (parts) => join(mapOf(parts))),
  };
}

/** The parts of a URL. The query and `user` stay escaped; `user` is `undefined` if the URL has no user. */
interface Url {
  readonly scheme: string;
  readonly opaque: string;
  readonly user: string | undefined;
  readonly host: string;
  readonly path: string;
  readonly query: string;
  readonly fragment: string;
}

function dictOf({ user = "", ...url }: Url): GoMap {
  const hostname = url.host.replace(/:\d*$/, "").replace(/^\[(.*)\]$/, "$1");
  return Object.assign(Object.create(null), { ...url, hostname, userinfo: user });
}

function parseOrFail(source: string, problem: string): Url {
  try {
    return parse(source);
  } catch (error) {
    if (error instanceof Error) throw new Error(`${problem}: parse ${quote(source)}: ${error.message}`);
    throw error;
  }
}

function parse(source: string): Url {
  const [before, fragment = ""] = cutAt(source, "#");
  // deno-lint-ignore no-control-regex -- URLs with control characters are refused
  if (/[\0-\x1f\x7f]/.test(before)) throw new Error("net/url: invalid control character in URL");
  if (before.startsWith(":")) throw new Error("missing protocol scheme");
  const name = /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(before)?.[1];
  const scheme = name?.toLowerCase() ?? "";
  const [hierarchy, query = ""] = cutAt(name === undefined ? before : before.slice(name.length + 1), "?");
  return { scheme, query, fragment: unescape(fragment, "fragment"), ...parseHierarchy(scheme, hierarchy) };
}

function parseHierarchy(scheme: string, hierarchy: string): Pick<Url, "opaque" | "user" | "host" | "path"> {
  const url = { opaque: "", user: undefined, host: "" };
  if (!hierarchy.startsWith("/")) {
    if (scheme !== "") return { ...url, opaque: hierarchy, path: "" };
    if (startsWithColon(hierarchy)) throw new Error("first path segment in URL cannot contain colon");
  }
  const hasAuthority = hierarchy.startsWith("//") && (scheme !== "" || !hierarchy.startsWith("///"));
  if (!hasAuthority) return { ...url, path: unescape(hierarchy, "path") };
  const slash = 2 + hierarchy.slice(2).search(/\/|$/);
  return { ...url, ...parseAuthority(hierarchy.slice(2, slash)), path: unescape(hierarchy.slice(slash), "path") };
}

/** Whether the first segment of a path has a colon, so that it would be read as a scheme. */
function startsWithColon(path: string): boolean {
  return /^[^/]*:/.test(path);
}

function cutAt(source: string, separator: string): [string, string?] {
  const at = source.indexOf(separator);
  return at < 0 ? [source] : [source.slice(0, at), source.slice(at + 1)];
}

function parseAuthority(authority: string): Pick<Url, "host" | "user"> {
  const at = authority.lastIndexOf("@");
  const host = parseHost(authority.slice(at + 1));
  if (at < 0) return { host, user: undefined };
  const userinfo = authority.slice(0, at);
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userinfo)) throw new Error("net/url: invalid userinfo");
  const [name, password] = cutAt(userinfo, ":").map((part) => escape(unescape(part ?? "", "user"), "user"));
  return { host, user: password === undefined ? name : `${name}:${password}` };
}

function parseHost(host: string): string {
  const bracket = host.startsWith("[") ? host.lastIndexOf("]") : -1;
  if (host.startsWith("[") && bracket < 0) throw new Error("missing ']' in host");
  const colon = bracket >= 0 ? bracket + 1 : host.lastIndexOf(":");
  const port = colon < 0 ? "" : host.slice(colon);
  if (!/^(:\d*)?$/.test(port)) throw new Error(`invalid port ${quote(port)} after host`);
  return unescape(host, "host");
}

type Part = "path" | "fragment" | "user" | "host";

const ESCAPED_IN_HOST = /[^\w\-.~!$&'()*+,;=:[\]<>"]/g;
/** Bytes that are escaped. */
const ESCAPED: Readonly<Record<Part, RegExp>> = {
  path: /[^\w\-.~$&+,/:;=@]/g,
  fragment: /[^\w\-.~$&+,/:;=?@!()*]/g,
  user: /[^\w\-.~$&+,;=]/g,
  host: ESCAPED_IN_HOST,
};

function escape(value: string, part: Part): string {
  return toBinary(value).replace(ESCAPED[part], (byte) => {
    return `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`;
  });
}

function unescape(value: string, part: Part): string {
  const wrong = /%(?![0-9A-Fa-f]{2})[^]{0,2}/.exec(value)?.[0];
  if (wrong !== undefined) throw new Error(`invalid URL escape ${quote(wrong)}`);
  if (part === "host") checkHost(value);
  if (!value.includes("%")) return value;
  const binary = toBinary(value).replace(/%(..)/g, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return fromBinary(binary);
}

/** Checks a host: only bytes beyond ASCII and the percent sign of a zone may be escaped. */
function checkHost(host: string): void {
  const escaped = /%(?!25)[0-7]./.exec(host)?.[0];
  if (escaped !== undefined) throw new Error(`invalid URL escape ${quote(escaped)}`);
  const wrong = host.match(ESCAPED_IN_HOST)?.find((c) => c < "\x80" && c !== "%");
  if (wrong !== undefined) throw new Error(`invalid character ${quote(wrong)} in host name`);
}

function join(parts: GoMap): string {
  const [scheme = "", host = "", path = "", query = "", opaque = "", fragment = "", userinfo = ""] = PARTS.map((name) =>
    partOf(parts, name)
  );
  const user = userinfo === ""
    ? undefined
    : parseOrFail(`proto://${userinfo}@host`, "unable to parse userinfo in dict").user;
  const start = scheme === "" ? "" : scheme + ":";
  const middle = opaque === "" ? hierarchyOf({ scheme, user, host, path }) : opaque;
  return start + middle + (query && `?${query}`) + (fragment && `#${escape(fragment, "fragment")}`);
}

const PARTS = ["scheme", "host", "path", "query", "opaque", "fragment", "userinfo"];

type Hierarchy = Pick<Url, "scheme" | "user" | "host" | "path">;

function hierarchyOf(url: Hierarchy): string {
  const authority = authorityOf(url);
  const path = url.path === "*" ? url.path : escape(url.path, "path");
  if (path !== "" && !path.startsWith("/") && url.host !== "") return `${authority}/${path}`;
  const bare = authority === "" && url.scheme === "";
  return (bare && startsWithColon(path) ? "./" : authority) + path;
}

function authorityOf({ scheme, user, host, path }: Hierarchy): string {
  const named = host !== "" || user !== undefined;
  if (!named && (scheme === "" || path === "")) return "";
  return `//${user === undefined ? "" : `${user}@`}${escape(host, "host")}`;
}

function partOf(parts: GoMap, name: string): string {
  const value: GoValue | undefined = Object.hasOwn(parts, name) ? parts[name] : "";
  if (typeof value === "string") return value;
  if (value === null || value === undefined) {
    throw new Error("runtime error: invalid memory address or nil pointer dereference");
  }
  throw new Error(`unable to parse ${name} key, must be of type string, but ${kindOf(value)} found`);
}
