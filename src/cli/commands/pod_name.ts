import { UsageError } from "../../base/errors.ts";

/** The pod that arguments name: `pod/web`, `pod web` and `web`. Errors: a UsageError for more of them. */
export function podName([first, second, ...more]: readonly string[]): string | undefined {
  if (first === undefined || second === undefined) return first;
  if (first.includes("/") || more.length > 0) {
    throw new UsageError(`Unexpected argument "${more[0] ?? second}"`, { hint: "one pod or workload is named" });
  }
  return `${first}/${second}`;
}
