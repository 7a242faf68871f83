/** Finds the rules of an AuthorizationPolicy that deny a client. */
import { isList, mapAt, type ValueMap } from "../../../base/value.ts";
import type { Search } from "../cause.ts";
import { type Finding, finding, type Path, removal } from "../change.ts";

const KIND = "AuthorizationPolicy";

/** Suggests to remove a DENY rule, or to add the client to an ALLOW policy. For an unknown client, suggests `edit`. */
export function authorizationRules(object: ValueMap, search: Extract<Search, { by: "rules" }>): Finding {
  const { action, rule, principal } = search;
  const rules: Path = ["spec", "rules"];
  if (action === "deny") return removal(KIND, object, [...rules, rule], "change or remove FIELD");
  const text = "add the client to FIELD";
  if (principal === "") return finding(KIND, object, rules, { text });
  const value = { from: [{ source: { principals: [principal] } }] };
  const hasRules = isList(mapAt(object, "spec")["rules"]);
  return finding(KIND, object, rules, hasRules ? { text, op: "append", value } : { text, op: "add", value: [value] });
}
