/** Findings about many objects: the first few in the message, all of them by name. */
import type { Finding } from "../check.ts";

/** A problem of one object. */
export interface Problem {
  /** `pod/shop/cart-1`. */
  readonly object: string;
  readonly result: "warning" | "error";
  /** Follows the object's name. */
  readonly message: string;
}

/** The JSON output has every object. */
const MOST_LINES = 10;

/** The fix: a text, or a command for the first object. */
export type Advice = string | ((first: Named) => string);

/** The parts of an object's name. */
export interface Named {
  readonly kind: string;
  /** `""` for a cluster-scoped object. */
  readonly namespace: string;
  readonly name: string;
}

/** One finding for all problems, with the worst result; `advice` is the last line. Without a problem `ok`. */
export function findingOf(problems: readonly Problem[], advice?: Advice): Finding {
  if (problems.length === 0) return { result: "ok" };
  const errors = problems.filter(({ result }) => result === "error");
  const ordered = [...errors, ...problems.filter(({ result }) => result === "warning")];
  const lines = ordered.slice(0, MOST_LINES).map(({ object, message }) => `${object}: ${message}`);
  if (ordered.length > MOST_LINES) lines.push(`and ${ordered.length - MOST_LINES} more`);
  const [first] = ordered;
  if (advice !== undefined && first !== undefined) lines.push(adviceText(advice, first));
  return {
    result: errors.length > 0 ? "error" : "warning",
    message: lines.join("\n"),
    objects: [...new Set(ordered.map(({ object }) => object))],
  };
}

function adviceText(advice: Advice, { object }: Problem): string {
  if (typeof advice === "string") return advice;
  const [kind = "", ...names] = object.split("/");
  const [namespace = "", name] = names.length > 1 ? names : ["", ...names];
  return advice({ kind, namespace, name: name ?? "" });
}
