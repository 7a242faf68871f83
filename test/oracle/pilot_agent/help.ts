/** What pilot-agent says about itself: `pilot-agent collateral`. */

export const HELP_FILE = new URL("testdata/help.json", import.meta.url);

/** A flag of `pilot-agent proxy`, or a variable. */
export interface Named {
  readonly name: string;
  readonly default: string;
}

export interface Help {
  readonly flags: readonly Named[];
  /** `isAgents`: the agent's own packages name it; the others belong to istiod, whose code the program links. */
  readonly variables: readonly (Named & { readonly isAgents: boolean })[];
  readonly metrics: readonly string[];
}

/** Reads the HTML that `pilot-agent collateral` writes. `literals`: the strings in the source of the agent's packages. */
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
