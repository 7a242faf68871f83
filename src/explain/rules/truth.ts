/** Results of conditions on values that may be unknown (Kleene's three-valued logic). */

export type Truth = "yes" | "no" | "unknown";

export function truthOf(value: boolean): Truth {
  return value ? "yes" : "no";
}

export function not(value: Truth): Truth {
  return value === "unknown" ? "unknown" : value === "yes" ? "no" : "yes";
}

/** `no` wins over `unknown`, and `unknown` over `yes`. Without values: `yes`. */
export function all(values: Iterable<Truth>): Truth {
  let result: Truth = "yes";
  for (const value of values) {
    if (value === "no") return "no";
    if (value === "unknown") result = "unknown";
  }
  return result;
}

/** `yes` wins over `unknown`, and `unknown` over `no`. Without values: `no`. */
export function any(values: Iterable<Truth>): Truth {
  let result: Truth = "no";
  for (const value of values) {
    if (value === "yes") return "yes";
    if (value === "unknown") result = "unknown";
  }
  return result;
}
