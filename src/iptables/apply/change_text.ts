/** Formats the changes that `apply` and `clean` made, one line for each difference. */

/** Differences that need a removal. */
const REMOVED = [/^unexpected /, /: unexpected(?:: |$)/, /^needed: \S+ (?:-6 )?\w+ del /];

/**
 * Returns the line for a difference:
 *
 * | difference                 | the first run          | later                  |
 * |----------------------------|------------------------|------------------------|
 * | `PLACE: missing: RULE`     | `Added: PLACE: RULE`   | `Repaired: ...`        |
 * | `needed: ip rule add ...`  | `Added: ip rule ...`   | `Repaired: ...`        |
 * | `PLACE: unexpected: RULE`  | `Removed: PLACE: RULE` | `Removed: PLACE: RULE` |
 * | `needed: ip rule del ...`  | `Removed: ip rule ...` | `Removed: ip rule ...` |
 * | a different order          |                        | `Repaired: ...`        |
 */
export function changeText(difference: string, isFirst: boolean): string {
  const plain = difference.replace(/^needed: |^unexpected |: (?:missing|unexpected)(?=: |$)/, "");
  if (REMOVED.some((pattern) => pattern.test(difference))) return `Removed: ${plain}`;
  return isFirst ? `Added: ${plain}` : `Repaired: ${difference}`;
}
