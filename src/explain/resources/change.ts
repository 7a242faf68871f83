/** Suggests a change to a resource, as text and as a kubectl command. */
import { fieldText } from "../../base/field_path.ts";
import { shellQuoted } from "../../base/text/mod.ts";
import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";
import { nameOf } from "./mesh_resources.ts";

/** A deciding field: the resource, the field and the change to suggest. */
export interface Finding {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
  readonly field: string;
  readonly fix: string;
  /** Clause to add to the reason; empty if the answer already contains the reason. */
  readonly reason?: string;
}

/** Path of a field as keys and indexes, such as `["spec", "http", 0]`. */
export type Path = readonly (string | number)[];

/** Resource names for kubectl if the kind alone is ambiguous: Gateway is also a kind in the Gateway API. */
const SPELLED: Readonly<Record<string, string>> = { Gateway: "gateways.networking.istio.io" };

/**
 * Returns the finding for a field. `text` describes the change and contains FIELD where the field's path belongs;
 * `patch` makes the change.
 */
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

/**
 * Returns the finding that suggests removing an item from a list, or removing the object if the list has no other item.
 */
export function removal(kind: string, object: ValueMap, path: Path, text: string): Finding {
  const list = valueAtPath(object, path.slice(0, -1));
  const isOnly = isList(list) && list.length === 1;
  const { fix, ...own } = finding(kind, object, { path, text, patch: { op: "remove", path: pointerOf(path) } });
  if (!isOnly) return { ...own, fix };
  const command = ["kubectl", "delete", "-n", own.namespace, `${SPELLED[kind] ?? kind.toLowerCase()}/${own.name}`];
  return { ...own, fix: `${fix.slice(0, fix.indexOf(": kubectl"))}: ${command.map(shellQuoted).join(" ")}` };
}

/** One operation of a JSON patch (RFC 6902). */
export type Patch =
  | { readonly op: "remove"; readonly path: string }
  | { readonly op: "add" | "replace"; readonly path: string; readonly value: unknown };

/** Returns the JSON pointer of a path (RFC 6901). */
export function pointerOf(path: Path): string {
  return path.map((each) => `/${String(each).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
}

/** Returns the value at a path of keys and indexes. */
export function valueAtPath(object: Value, path: Path): Value | undefined {
  let value: Value | undefined = object;
  for (const step of path) {
    if (typeof step === "number") value = isList(value) ? value[step] : undefined;
    else value = isMap(value) ? value[step] : undefined;
  }
  return value;
}
