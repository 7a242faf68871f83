/** Envoy's log levels. Source: Istio's envoy.splitComponentLog. */

/** `-l` and `--component-log-level`; `""` for none. */
export interface EnvoyLogLevels {
  readonly level: string;
  readonly components: string;
}

/**
 * The last plain word is the level, all `component:level` are those of components; where there are none, the deprecated
 * flag counts. A word of another form is passed over with a warning.
 */
export function envoyLogLevels(words: string, deprecated: string, warnings: string[]): EnvoyLogLevels {
  const parts = words.split(",").map((word) => ({ word, colons: word.split(":").length - 1 }));
  const components = parts.filter(({ colons }) => colons === 1).map(({ word }) => word);
  for (const { word } of parts.filter(({ colons }) => colons > 1)) {
    warnings.push(`"${word}" in "--proxyLogLevel" is passed over: it is neither a level nor component:level`);
  }
  return {
    level: parts.findLast(({ colons }) => colons === 0)?.word ?? "",
    components: components.length > 0 ? components.join(",") : deprecated,
  };
}
