/** Parses addresses in a snapshot. Texts of a snapshot can be invalid. */
import { type Address, parseAddress, splitHostPort } from "../golang/net/mod.ts";

/** Returns the IP address in a text; `undefined` for any other text. */
export function addressOf(text: string | undefined): Address | undefined {
  const address = text === undefined ? undefined : parseAddress(text);
  return typeof address === "string" ? undefined : address;
}

/** Returns host and port of `HOST:PORT`; `undefined` for any other text. */
export function hostAndPort(text: string): { readonly host: string; readonly port: number } | undefined {
  const parts = splitHostPort(text);
  return typeof parts === "string" ? undefined : { host: parts.host, port: Number(parts.port) };
}
