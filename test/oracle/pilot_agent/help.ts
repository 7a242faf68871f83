/** Reads pilot-agent's own reference of its flags and variables: the output of `pilot-agent collateral`. */

export const HELP_FILE = new URL("testdata/help.json", import.meta.url);

/** A flag of `pilot-agent proxy`, or an environment variable. */
export interface Named {
  readonly name: string;
  readonly default: string;
}

export interface Help {
  readonly flags: readonly Named[];
  /**
   * `isAgents` is true if the agent's own packages name the variable. The others belong to istiod, whose code is linked
   * into the program.
   */
  readonly variables: readonly (Named & { readonly isAgents: boolean })[];
  readonly metrics: readonly string[];
}

/**
 * Parses the HTML from `pilot-agent collateral`. `literals` are the strings in the source code of the agent's packages.
 */
export function readHelp(html: string, literals: ReadonlySet<string>): Help {
  const [commands = "", variables = "", metrics = ""] = html.split(/<h2 id="(?:envvars|metrics)">/);
  const proxy = commands.split(/<h3 id="pilot-agent-/).find((part) => part.startsWith("proxy")) ?? "";
  const flags = [...proxy.matchAll(/<td><code>--([\w-]+)[^<]*<\/code><\/td>\s*<td>(.*?)<\/td>/gs)];
  const rows = [
    ...variables.matchAll(/<code>([A-Z][A-Z0-9_]+)<\/code><\/a><\/td>\s*<td>[^<]*<\/td>\s*<td>(.*?)<\/td>/gs),
  ];
  return {
    flags: flags.map(([, name = "", text = ""]) => ({ name, default: plain(/\(default `(.*?)`\)/.exec(text)?.[1]) })),
    variables: rows.map(([, name = "", text]) => ({ name, default: plain(text), isAgents: literals.has(name) })),
    metrics: [...metrics.matchAll(/<tr><td><code>(\w+)<\/code>/g)].map(([, name = ""]) => name),
  };
}

function plain(html = ""): string {
  return html.replaceAll(/<[^>]*>/g, "").replaceAll("&#39;", "'").replaceAll("&lt;", "<").replaceAll("&gt;", ">");
}
