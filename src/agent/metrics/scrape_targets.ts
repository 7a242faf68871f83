/** Reads the application's metrics endpoints from ISTIO_PROMETHEUS_ANNOTATIONS, which the injector writes. */
import { parseJson } from "../../base/json.ts";
import { isMap, type ValueMap } from "../../base/value.ts";
import { parseUint } from "../../golang/net/mod.ts";
import { PROXY_PORTS } from "../../istio/configuration.ts";
import { fieldOf, textField } from "../json_fields.ts";

export interface ScrapeTarget {
  readonly port: number;
  readonly path: string;
}

const DEFAULT_PATH = "/metrics";
const DEFAULT_PORT = "80";

/**
 * Parses the endpoints; none if scraping is off. Rejects an endpoint on the status port, because the agent would scrape
 * itself.
 */
export function readScrapeTargets(text: string, statusPort: number) {
  const json = parseJson(text);
  if (!isMap(json)) return { targets: [], problems: [`not a JSON object but "${text.slice(0, 100)}"`] };
  const problems: string[] = [];
  const read = (object: ValueMap, name: string) => textField(object, name, problems);
  if (read(json, "scrape") === "false") return { targets: [], problems };
  const listed = fieldOf(json, "targets") ?? [];
  const isList = Array.isArray(listed) && listed.every(isMap);
  if (!isList) problems.push(`"targets" is not a list of objects`);
  const whole = { port: read(json, "port") || DEFAULT_PORT, path: read(json, "path") };
  const several = isList ? listed.map((each) => ({ port: read(each, "port"), path: read(each, "path") })) : [];
  const texts = several.length === 0 ? [whole] : several;
  const targets = texts.map(({ port, path }) => target(port, path || DEFAULT_PATH, statusPort));
  return {
    targets: targets.filter((each) => typeof each !== "string"),
    problems: [...problems, ...targets.filter((each) => typeof each === "string")],
  };
}

/** Validates an endpoint. Ports are compared as numbers, because "015020" is the status port too. */
function target(text: string, path: string, statusPort: number): ScrapeTarget | string {
  const port = parseUint(text, 16);
  if (typeof port === "string" || port === 0) return `the port "${text}" is not a number from 1 to 65535`;
  if (port === statusPort) return `the port "${text}" is the agent's own port, so the agent would scrape itself`;
  const use = PROXY_PORTS.get(port);
  if (use !== undefined) return `the port "${text}" is reserved for Istio (${use})`;
  return { port, path: path.startsWith("/") ? path : `/${path}` };
}
