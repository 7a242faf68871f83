import { UsageError } from "../../base/errors.ts";

/** The pod that the arguments name: `pod/web`, `pod web` or `web`. Errors: a UsageError for further arguments. */
export function podName([first, second, ...more]: readonly string[]): string | undefined {
  if (first === undefined || second === undefined) return first;
  if (first.includes("/") || more.length > 0) {
    throw new UsageError(`Unexpected argument "${more[0] ?? second}"`, { hint: "one pod or workload is named" });
  }
  return `${first}/${second}`;
}
