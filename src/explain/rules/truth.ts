/** Combines results of conditions on values that can be unknown (Kleene's three-valued logic). */

export type Truth = "yes" | "no" | "unknown";

export function truthOf(value: boolean): Truth {
  return value ? "yes" : "no";
}

export function not(value: Truth): Truth {
  return value === "unknown" ? "unknown" : value === "yes" ? "no" : "yes";
}

/** Returns `no` if any value is `no`, else `unknown` if any is `unknown`, else `yes`. `yes` for an empty list. */
export function all(values: Iterable<Truth>): Truth {
  let result: Truth = "yes";
  for (const value of values) {
    if (value === "no") return "no";
    if (value === "unknown") result = "unknown";
  }
  return result;
}

/** Returns `yes` if any value is `yes`, else `unknown` if any is `unknown`, else `no`. `no` for an empty list. */
export function any(values: Iterable<Truth>): Truth {
  let result: Truth = "no";
  for (const value of values) {
    if (value === "yes") return "yes";
    if (value === "unknown") result = "unknown";
  }
  return result;
}
