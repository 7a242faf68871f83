/** HTTP proxies from environment variables, which a Deno client reads once at its creation. */
import { newClient, withVariables } from "./trust.ts";

const VARIABLES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
/** `NO_PROXY` value that matches every host. `*` alone matches names only, not addresses. */
const EVERY_HOST = "*,0.0.0.0/0,::/0";

/** Loopback hosts, which never use a proxy, as in Go (net/http, ProxyFromEnvironment). */
const LOOPBACK = "localhost,127.0.0.0/8,::1";

/** Creates a client that uses the environment's proxies, except for loopback. */
export function proxiedClient(options: Deno.CreateHttpClientOptions): Deno.HttpClient {
  if (!isProxied()) return newClient(options);
  const given = Deno.env.get("NO_PROXY") ?? Deno.env.get("no_proxy") ?? "";
  return withVariables({ NO_PROXY: given === "" ? LOOPBACK : `${given},${LOOPBACK}` }, () => newClient(options));
}

/** Creates a client that ignores the environment's proxies and uses only the proxy in the options, if any. */
export function clientOnItsOwn(options: Deno.CreateHttpClientOptions): Deno.HttpClient {
  if (!isProxied()) return newClient(options);
  // `NO_PROXY` also applies to the proxy in the options.
  const exceptions = options.proxy === undefined ? EVERY_HOST : "";
  return withVariables({ NO_PROXY: exceptions }, () => newClient(options));
}

/** Whether the environment sets a proxy. */
export function isProxied(): boolean {
  return VARIABLES.some((name) => (Deno.env.get(name) ?? "") !== "");
}
