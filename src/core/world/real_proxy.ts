/** Proxies that the environment names: clients of Deno read the variables when they are made, and only then. */

const VARIABLES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];

/** A client that asks the hosts of `exceptions` without a proxy (`*`: all); `undefined` if there is no proxy anyway. */
export function clientPast(
  exceptions: readonly string[],
  options: Deno.CreateHttpClientOptions = {},
): Deno.HttpClient | undefined {
  if (VARIABLES.every((name) => (Deno.env.get(name) ?? "") === "")) return undefined;
  const given = Deno.env.get("NO_PROXY") ?? Deno.env.get("no_proxy") ?? "";
  const list = [...given === "" ? [] : [given], ...exceptions].join(",");
  return withVariable("NO_PROXY", list, () => Deno.createHttpClient(options));
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
