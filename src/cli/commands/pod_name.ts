import { UsageError } from "../../base/errors.ts";
import type { PodChoice } from "../../explain/mod.ts";

/** The pod that the arguments name: `pod/web`, `pod web` or `web`. Errors: a UsageError for further arguments. */
export function podName([first, second, ...more]: readonly string[]): string | undefined {
  if (first === undefined || second === undefined) return first;
  if (first.includes("/") || more.length > 0) {
    throw new UsageError(`Unexpected argument "${more[0] ?? second}"`, { hint: "one pod or workload is named" });
  }
  return `${first}/${second}`;
}

/** Flags that choose pods. */
interface PodFlags extends Pick<PodChoice, "selector" | "namespace" | "allNamespaces" | "container"> {}

/** The pods of a name or of flags; `undefined` if none is named. Errors: a UsageError for a name beside -l or -A. */
export function podChoice(flags: PodFlags, name: string | undefined): PodChoice | undefined {
  const { selector, namespace, allNamespaces, container } = flags;
  const isSelected = selector !== undefined || allNamespaces;
  if (name !== undefined && isSelected) {
    throw new UsageError(`Both the pod "${name}" and ${selector === undefined ? "-A" : "-l"} are named`);
  }
  return name === undefined && !isSelected ? undefined : { name, selector, namespace, allNamespaces, container };
}
