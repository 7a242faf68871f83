/** A change of a resource as a command. */
import { fieldText } from "../../base/field_path.ts";
import { shellQuoted } from "../../base/text/mod.ts";
import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";
import { nameOf } from "./mesh_resources.ts";

/** What was found: the resource, its field, and what to do. */
export interface Finding {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly field: string;
  readonly fix: string;
  /** What it explains, as a clause; empty: the reason is said already. */
  readonly reason?: string;
}

/** Keys and indexes to a field, as in `["spec", "http", 0]`. */
export type Path = readonly (string | number)[];

/** A Gateway of Istio has the name of a kind of Kubernetes. */
const SPELLED: Readonly<Record<string, string>> = { Gateway: "gateways.networking.istio.io" };

/** The finding for a field that a JSON patch changes. `text`: what to do with the field. */
export function finding(
  kind: string,
  object: ValueMap,
  { path, text, patch }: { readonly path: Path; readonly text: string; readonly patch?: Patch },
): Finding {
  const named = nameOf(object);
  const field = fieldText(path);
  const what = `${kind} ${named.namespace}/${named.name}`;
  const command = patch === undefined ? ["edit"] : ["patch", "--type", "json", "-p", JSON.stringify([patch])];
  const [verb = "", ...more] = command;
  const words = [
    "kubectl",
    verb,
    "-n",
    named.namespace,
    `${SPELLED[kind] ?? kind.toLowerCase()}/${named.name}`,
    ...more,
  ];
  return {
    kind,
    ...named,
    field,
    fix: `${text.replace("FIELD", `${field} of ${what}`)}: ${words.map(shellQuoted).join(" ")}`,
  };
}

/** The finding for an object that should go, or lose one item of a list. */
export function removal(kind: string, object: ValueMap, path: Path, text: string): Finding {
  const list = valueAtPath(object, path.slice(0, -1));
  const isOnly = isList(list) && list.length === 1;
  const { fix, ...own } = finding(kind, object, { path, text, patch: { op: "remove", path: pointerOf(path) } });
  if (!isOnly) return { ...own, fix };
  const command = ["kubectl", "delete", "-n", own.namespace, `${SPELLED[kind] ?? kind.toLowerCase()}/${own.name}`];
  return { ...own, fix: `${fix.slice(0, fix.indexOf(": kubectl"))}: ${command.map(shellQuoted).join(" ")}` };
}

/** One operation (RFC 6902). */
export type Patch =
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown };

/** A JSON pointer (RFC 6901). */
export function pointerOf(path: Path): string {
  return path.map((each) => `/${String(each).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** The value under keys and indexes. */
export function valueAtPath(object: Value, path: Path): Value | undefined {
  let value: Value | undefined = object;
  for (const step of path) {
    if (typeof step === "number") value = isList(value) ? value[step] : undefined;
    else value = isMap(value) ? value[step] : undefined;
  }
  return value;
}
