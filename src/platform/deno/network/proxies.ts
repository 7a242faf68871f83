/** Proxies of the environment: a client of Deno reads the variables once, when it is created. */
import { newClient, withVariables } from "./trust.ts";

const VARIABLES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
/** `*` matches names, not addresses. */
const EVERY_HOST = "*,0.0.0.0/0,::/0";

/** A client that uses the proxies of the environment, but not for these hosts; `undefined` if there is no proxy. */
export function clientPast(
  exceptions: readonly string[],
  options: Deno.CreateHttpClientOptions = {},
): Deno.HttpClient | undefined {
  if (!isProxied()) return undefined;
  const given = Deno.env.get("NO_PROXY") ?? Deno.env.get("no_proxy") ?? "";
  const list = [...given === "" ? [] : [given], ...exceptions].join(",");
  return withVariables({ NO_PROXY: list }, () => newClient(options));
}

/** A client that uses the proxy of the options, or none: never one of the environment. */
export function clientOnItsOwn(options: Deno.CreateHttpClientOptions): Deno.HttpClient {
  if (!isProxied()) return newClient(options);
  // Exceptions apply to the proxy of the options too.
  const exceptions = options.proxy === undefined ? EVERY_HOST : "";
  return withVariables({ NO_PROXY: exceptions }, () => newClient(options));
}

function isProxied(): boolean {
  return VARIABLES.some((name) => (Deno.env.get(name) ?? "") !== "");
}
