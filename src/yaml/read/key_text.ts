import { resolved, type ScalarNode, type YamlNode } from "../node.ts";
import { floatKeyText } from "./number_text.ts";
import { Problem } from "./problem.ts";
import { INT64_MAX, resolveInt } from "./resolve.ts";

/**
 * The JSON key of a YAML key, as Kubernetes reads it: numbers and booleans become text (`on:` is `"true"`). Throws a
 * `Problem` for keys that Kubernetes rejects: null, collections, integers beyond int64.
 */
export function keyText(node: YamlNode, text: string): string {
  const target = resolved(node);
  if (target.kind !== "scalar") throw new Problem("A map or list cannot be a key", node.outer);
  const value = target.value;
  if (typeof value === "string") return value;
  if (typeof value === "boolean") return String(value);
  if (value !== null) return numberKey(target, text);
  throw new Problem(target.style === "empty" ? 'A key is missing before the ":"' : "Null cannot be a key", node.outer);
}

function numberKey(node: ScalarNode, text: string): string {
  const written = text.slice(node.start, node.end);
  const integer = resolveInt(written);
  if (integer === undefined) {
    return node.value === 0 && written.startsWith("-") ? "-0" : floatKeyText(Number(node.value));
  }
  if (BigInt(integer) > INT64_MAX) throw new Problem("The key is an integer beyond 64 bits", node.outer);
  return integer.toString();
}
