/** Proxies of the environment: a client of Deno reads the variables once, when it is created. */

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
  return withVariable("NO_PROXY", list, () => Deno.createHttpClient(options));
}

/** A client that uses the proxy of the options, or none: never one of the environment. */
export function clientOnItsOwn(options: Deno.CreateHttpClientOptions): Deno.HttpClient {
  if (!isProxied()) return Deno.createHttpClient(options);
  // Exceptions apply to the proxy of the options too.
  const exceptions = options.proxy === undefined ? EVERY_HOST : "";
  return withVariable("NO_PROXY", exceptions, () => Deno.createHttpClient(options));
}

function isProxied(): boolean {
  return VARIABLES.some((name) => (Deno.env.get(name) ?? "") !== "");
}

function withVariable<T>(name: string, value: string, action: () => T): T {
  const before = Deno.env.get(name);
  Deno.env.set(name, value);
  try {
    return action();
  } finally {
    if (before === undefined) Deno.env.delete(name);
    else Deno.env.set(name, before);
  }
}
