import { isMap, listAt, mapAt, type Value, type ValueMap } from "../../base/value.ts";

/** Whether a selector matches. An invalid selector has a `problem` and never matches. */
export interface SelectorResult {
  readonly matches: boolean;
  readonly problem?: string;
}

interface Requirement {
  readonly key: string;
  readonly operator: string;
  readonly values: readonly string[];
}

interface Operator {
  readonly needsValues: boolean;
  readonly matches: (label: string | undefined, values: readonly string[]) => boolean;
}

const OPERATORS: Readonly<Record<string, Operator>> = {
  In: { needsValues: true, matches: (label, values) => label !== undefined && values.includes(label) },
  NotIn: { needsValues: true, matches: (label, values) => label === undefined || !values.includes(label) },
  Exists: { needsValues: false, matches: (label) => label !== undefined },
  DoesNotExist: { needsValues: false, matches: (label) => label === undefined },
};

const NAME = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const MAX_SUBDOMAIN = 253;

/**
 * Whether a label selector (all of `matchLabels` and `matchExpressions`) matches labels. A null selector never matches,
 * an empty selector always matches.
 * Source of the rules: the documentation of metav1.LabelSelector and of label syntax.
 */
export function selectorMatches(selector: Value, labels: ValueMap): SelectorResult {
  if (selector === null) return { matches: false };
  const { requirements, problem } = readSelector(selector);
  if (problem !== undefined) return { matches: false, problem };
  const matches = requirements.every(({ key, operator, values }) => {
    const label = labels[key];
    return OPERATORS[operator]?.matches(typeof label === "string" ? label : undefined, values) ?? false;
  });
  return { matches };
}

/** Whether a selector has no requirements. */
export function isEmptySelector(selector: Value): boolean {
  if (!isMap(selector)) return true;
  return Object.keys(mapAt(selector, "matchLabels")).length + listAt(selector, "matchExpressions").length === 0;
}

interface ReadSelector {
  readonly requirements: readonly Requirement[];
  readonly problem: string | undefined;
}

/** A cache of parsed selectors, because the selector of a webhook is compared with thousands of pods. */
const READ = new WeakMap<ValueMap, ReadSelector>();

function readSelector(selector: Value): ReadSelector {
  if (!isMap(selector)) return { requirements: [], problem: "A label selector must be a mapping" };
  const read = READ.get(selector) ?? requirementsOf(selector);
  READ.set(selector, read);
  return read;
}

function requirementsOf(selector: ValueMap): ReadSelector {
  const labels = Object.entries(mapAt(selector, "matchLabels"));
  const requirements = [
    ...labels.map(([key, value]) => ({ key, operator: "In", values: [String(value ?? "")] })),
    ...listAt(selector, "matchExpressions").map(readExpression),
  ];
  return { requirements, problem: requirements.map(requirementProblem).find((problem) => problem !== undefined) };
}

function readExpression(expression: Value): Requirement {
  const map = isMap(expression) ? expression : {};
  return {
    key: String(map["key"] ?? ""),
    operator: String(map["operator"] ?? ""),
    values: listAt(map, "values").map((value) => String(value ?? "")),
  };
}

function requirementProblem({ key, operator, values }: Requirement): string | undefined {
  const rule = Object.hasOwn(OPERATORS, operator) ? OPERATORS[operator] : undefined;
  if (rule === undefined) {
    return `"${operator}" is not a label selector operator (In, NotIn, Exists, DoesNotExist)`;
  }
  if (!isLabelKey(key)) return `"${key}" is not a valid label key`;
  if (rule.needsValues && values.length === 0) return `The operator "${operator}" of the label "${key}" needs values`;
  if (!rule.needsValues && values.length > 0) {
    return `The operator "${operator}" of the label "${key}" does not accept values`;
  }
  const bad = values.find((value) => !isLabelValue(value));
  return bad === undefined ? undefined : `"${bad}" is not a valid value for the label "${key}"`;
}

/** Whether a text is a label key: a name of at most 63 characters, optionally after a DNS subdomain and `/`. */
function isLabelKey(key: string): boolean {
  const slash = key.indexOf("/");
  if (slash < 0) return NAME.test(key);
  const prefix = key.slice(0, slash);
  return prefix.length <= MAX_SUBDOMAIN && DNS_SUBDOMAIN.test(prefix) && NAME.test(key.slice(slash + 1));
}

function isLabelValue(value: string): boolean {
  return value === "" || NAME.test(value);
}
