/** Media types as Go's package mime reads and writes them (RFC 2045, RFC 2183). */

/** `text/plain; version=0.0.4`: names in lower case. */
export interface MediaType {
  readonly name: string;
  readonly parameters: ReadonlyMap<string, string>;
}

const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const PARAMETER =
  /^\s*;\s*([!#$%&'*+\-.^_`|~0-9A-Za-z]+)\s*=\s*(?:([!#$%&'*+\-.^_`|~0-9A-Za-z]+)|"((?:[^"\\]|\\.)*)")\s*/;

/** Reads a media type; `undefined` if it is none. */
export function parseMediaType(text: string): MediaType | undefined {
  const semicolon = text.indexOf(";");
  const name = (semicolon < 0 ? text : text.slice(0, semicolon)).trim().toLowerCase();
  const parts = name.split("/");
  if (parts.length > 2 || !parts.every((part) => TOKEN.test(part))) return undefined;
  const parameters = parametersOf(semicolon < 0 ? "" : text.slice(semicolon));
  return parameters === undefined ? undefined : { name, parameters };
}

function parametersOf(text: string): Map<string, string> | undefined {
  const parameters = new Map<string, string>();
  let rest = text;
  for (let found = PARAMETER.exec(rest); found !== null; found = PARAMETER.exec(rest)) {
    const [whole, key = "", plain, quoted = ""] = found;
    if (parameters.has(key.toLowerCase())) return undefined;
    parameters.set(key.toLowerCase(), plain ?? quoted.replaceAll(/\\(.)/g, "$1"));
    rest = rest.slice(whole.length);
  }
  return /^[\s;]*$/.test(rest) ? parameters : undefined;
}

/** The text of a media type: parameters sorted by name, values quoted where they must be. */
export function formatMediaType({ name, parameters }: MediaType): string {
  const pairs = [...parameters].sort(([a], [b]) => a < b ? -1 : 1);
  return [name, ...pairs.map(([key, value]) => `${key}=${TOKEN.test(value) ? value : quote(value)}`)].join("; ");
}

function quote(value: string): string {
  return `"${value.replaceAll(/["\\]/g, "\\$&")}"`;
}
