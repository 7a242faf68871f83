/** Proxies of the environment: a client of Deno reads the variables once, when it is created. */
import { newClient, withVariables } from "./trust.ts";

const VARIABLES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
/** `*` matches names, not addresses. */
const EVERY_HOST = "*,0.0.0.0/0,::/0";

/** As in Go (net/http, ProxyFromEnvironment). */
const LOOPBACK = "localhost,127.0.0.0/8,::1";

/** A client that uses the proxies of the environment, but not for loopback. */
export function proxiedClient(options: Deno.CreateHttpClientOptions): Deno.HttpClient {
  if (!isProxied()) return newClient(options);
  const given = Deno.env.get("NO_PROXY") ?? Deno.env.get("no_proxy") ?? "";
  return withVariables({ NO_PROXY: given === "" ? LOOPBACK : `${given},${LOOPBACK}` }, () => newClient(options));
}

/** A client that uses the proxy of the options, or none: never one of the environment. */
export function clientOnItsOwn(options: Deno.CreateHttpClientOptions): Deno.HttpClient {
  if (!isProxied()) return newClient(options);
  // Exceptions apply to the proxy of the options too.
  const exceptions = options.proxy === undefined ? EVERY_HOST : "";
  return withVariables({ NO_PROXY: exceptions }, () => newClient(options));
}

/** Whether the environment has a proxy. */
export function isProxied(): boolean {
  return VARIABLES.some((name) => (Deno.env.get(name) ?? "") !== "");
}
