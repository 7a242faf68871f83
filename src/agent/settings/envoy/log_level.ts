/** Envoy's log levels. Source: Istio's envoy.splitComponentLog. */

/** Envoy's flags `-l` and `--component-log-level`; `""` if unset. */
export interface EnvoyLogLevels {
  readonly level: string;
  readonly components: string;
}

/**
 * The last item without a colon is the level; every `component:level` is a component level. Without any component level
 * the deprecated flag counts. Other items are ignored with a warning.
 */
export function envoyLogLevels(words: string, deprecated: string, warnings: string[]): EnvoyLogLevels {
  const parts = words.split(",").map((word) => ({ word, colons: word.split(":").length - 1 }));
  const components = parts.filter(({ colons }) => colons === 1).map(({ word }) => word);
  for (const { word } of parts.filter(({ colons }) => colons > 1)) {
    warnings.push(`"${word}" in "--proxyLogLevel" is ignored: it is neither a level nor component:level`);
  }
  return {
    level: parts.findLast(({ colons }) => colons === 0)?.word ?? "",
    components: components.length > 0 ? components.join(",") : deprecated,
  };
}
