/** Parses label selectors in the syntax of kubectl's `-l` (apimachinery, pkg/labels). */
import { UsageError } from "../../base/errors.ts";
import type { ValueMap } from "../../base/value.ts";

const KEY = String.raw`(?:[A-Za-z0-9][-A-Za-z0-9_.]*\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?`;
const VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;

interface Form {
  readonly pattern: RegExp;
  readonly operator: "In" | "NotIn" | "Exists" | "DoesNotExist";
}

const FORMS: readonly Form[] = [
  { pattern: new RegExp(`^(${KEY})$`), operator: "Exists" },
  { pattern: new RegExp(`^!\\s*(${KEY})$`), operator: "DoesNotExist" },
  { pattern: new RegExp(`^(${KEY})\\s*==?\\s*([^=!\\s]*)$`), operator: "In" },
  { pattern: new RegExp(`^(${KEY})\\s*!=\\s*([^=!\\s]*)$`), operator: "NotIn" },
  { pattern: new RegExp(`^(${KEY})\\s+in\\s*\\(([^()]*)\\)$`), operator: "In" },
  { pattern: new RegExp(`^(${KEY})\\s+notin\\s*\\(([^()]*)\\)$`), operator: "NotIn" },
];

/**
 * Parses a text such as `team in (a, b),!legacy` into `matchExpressions`. An empty text gives an empty list.
 * Throws a `UsageError` that names the invalid part.
 */
export function selectorExpressions(text: string, flag: string): ValueMap[] {
  if (text.trim() === "") return [];
  return text.split(/,(?![^()]*\))/).map((part) => expression(part.trim(), flag));
}

function expression(part: string, flag: string): ValueMap {
  for (const { pattern, operator } of FORMS) {
    const [, key, list] = pattern.exec(part) ?? [];
    if (key === undefined) continue;
    if (list === undefined) return { key, operator };
    const values = list.split(",").map((value) => value.trim());
    if (values.every((value) => VALUE.test(value))) return { key, operator, values: [...new Set(values)].sort() };
  }
  throw new UsageError(`Invalid selector "${part}" in "${flag}"`, {
    hint: 'write key, !key, key=value, key!=value, "key in (a,b)" or "key notin (a,b)", separated by commas',
  });
}
