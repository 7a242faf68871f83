/** Why Envoy refused a listener or a cluster, from its `/config_dump` (`UpdateFailureState` of envoy.admin.v3). */
import { fieldOf, isObject, readJson } from "../../json_fields.ts";

/** What is asked: names and errors alone, since the refused configuration itself may be large. */
export const REFUSALS = [
  { path: "/config_dump?resource=dynamic_listeners&mask=name,error_state.details" },
  { path: "/config_dump?resource=dynamic_warming_clusters&mask=error_state.details" },
] as const;

const MOST = 5;
const LONGEST = 500;

/** The reasons in an answer: `listener "web": ...`, at most five, each cut to a line. */
export function refusalsIn(text: string): string[] {
  const json = readJson(text);
  const configs = isObject(json) ? fieldOf(json, "configs") : undefined;
  if (!Array.isArray(configs)) return [];
  return configs.filter(isObject).map(refusal).filter((reason) => reason !== "").slice(0, MOST);
}

function refusal(config: Record<string, unknown>): string {
  const state = fieldOf(config, "error_state");
  const details = isObject(state) ? fieldOf(state, "details") : undefined;
  if (typeof details !== "string" || details === "") return "";
  const name = fieldOf(config, "name");
  const reason = details.replaceAll(/\s+/g, " ").slice(0, LONGEST);
  return typeof name === "string" && name !== "" ? `"${name}": ${reason}` : reason;
}
