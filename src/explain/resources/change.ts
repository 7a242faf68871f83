/** Suggests a change to a resource, as text and as a kubectl command. */
import { fieldText } from "../../base/field_path.ts";
import { shellQuoted } from "../../base/text/mod.ts";
import { isList, isMap, textAt, type Value, type ValueMap } from "../../base/value.ts";
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

/** A change to a field. */
interface Change {
  /** Describes the change, with FIELD where the field's path belongs. */
  readonly text: string;
  /** What kubectl does: without an operation it opens an editor; `delete` removes the whole resource. */
  readonly op?: "add" | "append" | "replace" | "remove" | "delete";
  /** The new value, or the new item of the list (`append`). */
  readonly value?: unknown;
}

/** Resource names for kubectl if the kind alone is ambiguous: Gateway is also a kind in the Gateway API. */
const SPELLED: Readonly<Record<string, string>> = { Gateway: "gateways.networking.istio.io" };

/** Returns the finding for a field, with the kubectl command that makes the change. */
export function finding(object: ValueMap, path: Path, { text, op, value }: Change): Finding {
  const { namespace, name } = nameOf(object);
  const kind = textAt(object, "kind");
  const field = fieldText(path);
  const pointer = path.map((each) => `/${String(each).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
  const patch = op === "append" ? { op: "add", path: `${pointer}/-`, value } : { op, path: pointer, value };
  const [verb, ...more] = op === undefined
    ? ["edit"]
    : op === "delete"
    ? ["delete"]
    : ["patch", "--type", "json", "-p", JSON.stringify([patch])];
  const command = ["kubectl", verb, "-n", namespace, `${SPELLED[kind] ?? kind.toLowerCase()}/${name}`, ...more];
  const what = text.replace("FIELD", `${field} of ${kind} ${namespace}/${name}`);
  return { kind, namespace, name, field, fix: `${what}: ${command.map(shellQuoted).join(" ")}` };
}

/** Returns the finding that removes an item from a list, or the object if the list has no other item. */
export function removal(object: ValueMap, path: Path, text: string): Finding {
  const list = valueAtPath(object, path.slice(0, -1));
  return finding(object, path, { text, op: isList(list) && list.length === 1 ? "delete" : "remove" });
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
