/** Proxies that the environment names: clients of Deno read the variables when they are made, and only then. */

const VARIABLES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
/** An asterisk stands for names, not for addresses. */
const EVERYBODY = "*,0.0.0.0/0,::/0";

/** A client whose exceptions are those of the environment and these hosts; `undefined` if there is no proxy anyway. */
export function clientPast(
  exceptions: readonly string[],
  options: Deno.CreateHttpClientOptions = {},
): Deno.HttpClient | undefined {
  if (!isProxied()) return undefined;
  const given = Deno.env.get("NO_PROXY") ?? Deno.env.get("no_proxy") ?? "";
  const list = [...given === "" ? [] : [given], ...exceptions].join(",");
  return withVariable("NO_PROXY", list, () => Deno.createHttpClient(options));
}

/** A client that uses the proxy of these options, or none, whatever the environment says. */
export function clientOnItsOwn(options: Deno.CreateHttpClientOptions): Deno.HttpClient {
  if (!isProxied()) return Deno.createHttpClient(options);
  // Exceptions count for the proxy of the options too.
  const exceptions = options.proxy === undefined ? EVERYBODY : "";
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
