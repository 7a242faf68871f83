import { parseJson } from "../../../base/json.ts";
import { isList } from "../../../base/value.ts";
import { type FuncMap, type GoValue, pure } from "../../../golang/gotemplate/mod.ts";

export const textFunctions: FuncMap = {
  contains: pure(["string", "string"], (part, text) => String(text).includes(String(part))),
  toLower: pure(["string"], (text) => String(text).toLowerCase()),
  directory: pure(["string"], directory),
  indent: pure(["int", "string"], indent),
  appendMultusNetwork: pure(["string", "string"], appendMultusNetwork),
};

/** Returns the text up to and including the last slash, or `""` if there is no slash, as Go's filepath.Split does. */
function directory(path: GoValue): string {
  const text = String(path);
  return text.slice(0, text.lastIndexOf("/") + 1);
}

/** Indents every line except the first. Sprig's `indent` indents the first line too. */
function indent(spaces: GoValue, text: GoValue): string {
  return String(text).replaceAll("\n", "\n" + " ".repeat(Number(spaces)));
}

/** `appendMultusNetwork` as in earlier releases, which do not split a network name at a slash. */
export const appendWholeNetwork = pure(["string", "string"], (existing, network) => {
  const list = String(existing);
  return list.includes("]") ? appendToJsonList(list, { name: String(network) }) : appendMultusNetwork(list, network);
});

/** Adds a network to the value of `k8s.v1.cni.cncf.io/networks`, if missing. The value is a comma-separated or JSON list. */
function appendMultusNetwork(existing: GoValue, network: GoValue): string {
  const list = String(existing);
  const name = String(network);
  if (list === "") return name;
  if (list.includes("]")) return appendToJsonList(list, networkOf(name));
  return list.split(",").some((item) => item.trim() === name) ? list : `${list}, ${name}`;
}

interface Network {
  readonly namespace?: string | undefined;
  readonly name: string;
}

function networkOf(text: string): Network {
  const [namespace, name = ""] = text.split("/", 2);
  return text.includes("/") ? { namespace, name } : { name: text };
}

function appendToJsonList(list: string, { namespace, name }: Network): string {
  const entries = jsonList(list);
  if (entries === undefined || entries.some((entry) => sameNetwork(entry, namespace, name))) return list;
  const space = namespace === undefined ? "" : `, "namespace": "${namespace}"`;
  const at = list.lastIndexOf("]");
  return `${list.slice(0, at)}, {"name": "${name}"${space}}${list.slice(at)}`;
}

function jsonList(text: string): readonly unknown[] | undefined {
  const value = parseJson(text);
  return isList(value) ? value : undefined;
}

function sameNetwork(entry: unknown, namespace: string | undefined, name: string | undefined): boolean {
  if (typeof entry !== "object" || entry === null || !("name" in entry) || entry.name !== name) return false;
  return namespace === undefined || ("namespace" in entry && entry.namespace === namespace);
}
