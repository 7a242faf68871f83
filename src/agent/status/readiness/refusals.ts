/** Why Envoy refused a listener, from its `/config_dump` (`UpdateFailureState` of envoy.admin.v3). */
import { fieldOf, isObject, readJson } from "../../json_fields.ts";

/**
 * What is asked: names and errors alone, since the refused configuration itself may be large. Of refused clusters Envoy
 * keeps no reason but in its log.
 */
export const REFUSALS = "/config_dump?resource=dynamic_listeners&mask=name,error_state.details";

const MOST = 5;
const LONGEST = 500;

/** The reasons in an answer: `listener "web": ...`, at most five, each cut to a line; each once. */
export function refusalsIn(text: string): string[] {
  const json = readJson(text);
  const configs = isObject(json) ? fieldOf(json, "configs") : undefined;
  if (!Array.isArray(configs)) return [];
  const told = new Set<string>();
  return configs.filter(isObject).flatMap((config) => {
    const reason = reasonIn(config);
    if (reason === "" || told.has(reason) || told.size === MOST) return [];
    told.add(reason);
    const name = fieldOf(config, "name");
    return [typeof name === "string" && name !== "" ? `listener "${name}": ${reason}` : reason];
  });
}

function reasonIn(config: Record<string, unknown>): string {
  const state = fieldOf(config, "error_state");
  const details = isObject(state) ? fieldOf(state, "details") : undefined;
  return typeof details === "string" ? details.replaceAll(/\s+/g, " ").slice(0, LONGEST) : "";
}
