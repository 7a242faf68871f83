/** Reads a connection from command-line flags. */
import { UsageError } from "../../base/errors.ts";
import { isHostName, parseAddress, splitHostPort } from "../../golang/net/mod.ts";
import type { Connection, RequestHeader, Spoken } from "./question.ts";

export interface ConnectionFlags {
  readonly to: string | undefined;
  readonly from: string | undefined;
  readonly toPort: number | undefined;
  readonly method: string | undefined;
  readonly header: readonly string[];
  readonly sni: string | undefined;
}

const HINT = { hint: "such as --to reviews:9080/api, or --from 10.1.9.9 --to-port 8080" };

/** Returns the connection; `undefined` if no flag describes one. Throws a UsageError for invalid flags. */
export function readConnection(flags: ConnectionFlags): Connection | undefined {
  const { to, from, toPort } = flags;
  if (to !== undefined && (from !== undefined || toPort !== undefined)) {
    throw new UsageError("The flags --to and --from cannot be combined", HINT);
  }
  if (to !== undefined) return outbound(to, flags);
  if (from !== undefined || toPort !== undefined) return inbound(from, toPort, flags);
  const [stray] = (["method", "sni"] as const).filter((name) => flags[name] !== undefined);
  const name = flags.header.length > 0 ? "header" : stray;
  if (name !== undefined) throw new UsageError(`The flag --${name} needs --to or --from`, HINT);
  return undefined;
}

/** Schemes of a destination. `port` is the default port of the scheme. */
const SCHEMES: Readonly<Record<string, { readonly spoken: Spoken; readonly port?: number }>> = {
  http: { spoken: "http", port: 80 },
  https: { spoken: "tls", port: 443 },
  tls: { spoken: "tls" },
  tcp: { spoken: "tcp" },
};

function outbound(to: string, flags: ConnectionFlags): Connection {
  const [, name, authority = "", path] = /^(?:([a-z]+):\/\/)?([^/?]*)(.*)$/s.exec(to) ?? [];
  const scheme = name === undefined ? undefined : SCHEMES[name];
  if (name !== undefined && scheme === undefined) {
    throw new UsageError(`The scheme of "${to}" is not http, https, tls or tcp`, HINT);
  }
  const { host, port } = hostAndPort(authority, scheme?.port, to);
  return {
    direction: "outbound",
    host,
    port,
    ...request(flags, path ?? "", scheme?.spoken),
    sni: flags.sni ?? (scheme?.spoken === "tls" && isHostName(host) ? host : undefined),
  };
}

function hostAndPort(authority: string, usual: number | undefined, to: string) {
  const parts = splitHostPort(authority);
  const withUsual = { host: authority.replace(/^\[(.*)\]$/, "$1"), port: String(usual) };
  const { host, port } = typeof parts === "string" ? withUsual : parts;
  const number = Number(port);
  if (!/^\d{1,5}$/.test(port) || number < 1 || number > 65535) {
    throw new UsageError(`The destination "${to}" does not have a port from 1 to 65535`, HINT);
  }
  if (!isHostName(host) && typeof parseAddress(host) === "string") {
    throw new UsageError(`"${host}" is neither a host name nor an IP address`, HINT);
  }
  return { host, port: number };
}

function inbound(from: string | undefined, port: number | undefined, flags: ConnectionFlags): Connection {
  if (from === undefined || port === undefined) {
    throw new UsageError(`The flag ${from === undefined ? "--to-port needs --from" : "--from needs --to-port"}`, HINT);
  }
  if (typeof parseAddress(from) === "string") throw new UsageError(`"${from}" is not an IP address`, HINT);
  return { direction: "inbound", host: from, port, ...request(flags, "", undefined), sni: flags.sni };
}

const METHOD = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,64}$/;

function request({ method, header, sni }: ConnectionFlags, path: string, scheme: Spoken | undefined) {
  refuseMethod(method);
  const headers = header.map(readHeader);
  const given = (name: string) => headers.find((each) => each.name === name)?.value;
  const asked = given(":path") ?? path;
  const isHttp = method !== undefined || header.length > 0 || path !== "";
  return {
    spoken: scheme ?? (sni !== undefined ? "tls" : isHttp ? "http" : "unsaid"),
    method: method ?? given(":method") ?? "GET",
    path: asked.startsWith("/") ? asked : `/${asked}`,
    headers: headers.filter(({ name }) => name !== ":path" && name !== ":method"),
  };
}

function refuseMethod(method = "GET"): void {
  if (!METHOD.test(method)) throw new UsageError(`"${method}" is not an HTTP method`);
}

function readHeader(text: string): RequestHeader {
  const [, name = "", value = ""] = /^(:?[!#$%&'*+.^_`|~0-9A-Za-z-]+)[ \t]*[:=]([^\r\n]*)$/.exec(text) ?? [];
  if (name === "") throw new UsageError(`The header "${text}" does not have the form NAME:VALUE`);
  return { name: name.toLowerCase(), value: value.trim() };
}
