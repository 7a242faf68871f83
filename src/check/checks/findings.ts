/** Findings that are about many objects: the first few in words, all of them by name. */
import type { Finding } from "../check.ts";

/** Something about one object. */
export interface Problem {
  /** `pod/shop/cart-1`. */
  readonly object: string;
  readonly result: "warning" | "error";
  /** To follow the object's name. */
  readonly message: string;
}

/** More lines are no help on a screen; the JSON output has every object. */
const MOST_LINES = 10;

/** The finding of what was found in each object, as bad as the worst; `advice` is the last line. */
export function findingOf(problems: readonly Problem[], advice?: string): Finding {
  if (problems.length === 0) return { result: "ok" };
  const errors = problems.filter(({ result }) => result === "error");
  const ordered = [...errors, ...problems.filter(({ result }) => result === "warning")];
  const lines = ordered.slice(0, MOST_LINES).map(({ object, message }) => `${object}: ${message}`);
  if (ordered.length > MOST_LINES) lines.push(`and ${ordered.length - MOST_LINES} more`);
  if (advice !== undefined) lines.push(advice);
  return {
    result: errors.length > 0 ? "error" : "warning",
    message: lines.join("\n"),
    objects: [...new Set(ordered.map(({ object }) => object))],
  };
}
