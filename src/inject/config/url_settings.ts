/** Parses the cluster's settings from the path of the webhook's URL. */

/** The variables that short parameter names stand for. Any other name is upper-cased to get the variable's name. */
const VARIABLES: Readonly<Record<string, string>> = { cluster: "ISTIO_META_CLUSTER_ID", net: "ISTIO_META_NETWORK" };

const ENV = ":ENV:";

/**
 * Returns the proxy's variables from a URL path such as `/inject/cluster/c1/net/n1/KEY/VALUE`. `--slash--` stands for `/` in a
 * value. The older form is `/inject/:ENV:cluster=c1:ENV:net=n1`. A last key without a value is ignored.
 * Source: Istio's parseInjectEnvs.
 */
export function urlSettings(path: string): Readonly<Record<string, string>> {
  const rest = decoded(path).replace(/\/$/, "").split("/").slice(2).join("/");
  const pairs = rest.startsWith(ENV) ? envPairs(rest) : pathPairs(rest);
  return Object.fromEntries(
    pairs.filter(([key]) => key !== "").map(([key, value]) => [
      Object.hasOwn(VARIABLES, key) ? VARIABLES[key] ?? key : key.toUpperCase(),
      value,
    ]),
  );
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // URIError: the percent-encoding is invalid, so use the path as is.
    return path;
  }
}

type Pair = readonly [key: string, value: string];

function pathPairs(rest: string): readonly Pair[] {
  const parts = rest.split("/");
  const pairs: Pair[] = [];
  for (let at = 0; at + 1 < parts.length; at += 2) {
    pairs.push([parts[at] ?? "", (parts[at + 1] ?? "").replaceAll("--slash--", "/")]);
  }
  return pairs;
}

function envPairs(rest: string): readonly Pair[] {
  return rest.split(ENV).filter((pair) => pair.includes("=")).map((pair) => {
    const at = pair.indexOf("=");
    return [pair.slice(0, at), pair.slice(at + 1)];
  });
}
