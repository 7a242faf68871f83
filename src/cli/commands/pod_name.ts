import { UsageError } from "../../base/errors.ts";
import type { PodChoice } from "../../explain/mod.ts";

/** Returns the pod name from the arguments `pod/web`, `pod web` or `web`. Throws a UsageError for further arguments. */
export function podName([first, second, ...more]: readonly string[]): string | undefined {
  if (first === undefined || second === undefined) return first;
  if (first.includes("/") || more.length > 0) {
    throw new UsageError(`Unexpected argument "${more[0] ?? second}"`, { hint: "give only one pod or workload" });
  }
  return `${first}/${second}`;
}

/**
 * Returns the selected pods from a name or flags; `undefined` if the user selected no pods. Throws a UsageError for a
 * name together with -l or -A.
 */
export function podChoice(flags: Omit<PodChoice, "name">, name: string | undefined): PodChoice | undefined {
  const { selector, namespace, allNamespaces, container } = flags;
  const isSelected = selector !== undefined || allNamespaces;
  if (name !== undefined && isSelected) {
    throw new UsageError(`Both the pod "${name}" and ${selector === undefined ? "-A" : "-l"} are named`);
  }
  return name === undefined && !isSelected ? undefined : { name, selector, namespace, allNamespaces, container };
}
