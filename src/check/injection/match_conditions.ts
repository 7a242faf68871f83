/**
 * Evaluates the `matchConditions` of a webhook: CEL expressions that must all be true (Kubernetes, "Dynamic Admission
 * Control"). Only the metadata of the pod's manifest is known, so an expression that reads other fields is `unknown`.
 */
import { type ASTNode, Environment, EvaluationError } from "@marcbachmann/cel-js";
import { messageOf } from "../../base/errors.ts";
import { isMap, type Value } from "../../base/value.ts";
import { compileRe2, re2Library } from "../../golang/re2.ts";
import { metadataOf, type Pod } from "../../inject/mod.ts";
import type { MatchCondition } from "../inventory/injector_webhooks.ts";

/** The pod for which to evaluate conditions. */
export interface ConditionQuestion {
  readonly pod: Pod;
  readonly namespace: string;
  /** A controller creates the pod, so the pod's name and owner are unknown. */
  readonly isMade: boolean;
}

/** The value of a condition. `fails`: evaluation ends with an error, here and in the API server. */
export type Holding = "holds" | "does-not-hold" | "fails" | "unknown";

export interface ConditionAnswer {
  readonly condition: MatchCondition;
  readonly holding: Holding;
  /** The reason if the condition fails or is unknown. */
  readonly why: string;
}

const ENVIRONMENT = new Environment({ enableOptionalTypes: true })
  .registerVariable("object", "dyn")
  .registerVariable("oldObject", "dyn")
  .registerVariable("request", "dyn");

/** Loads the RE2 library. Call this function before `askConditions`. */
export async function loadConditions(): Promise<void> {
  await re2Library.loaded();
}

/** Evaluates each condition, after `loadConditions`. Never throws. */
export function askConditions(
  conditions: readonly MatchCondition[],
  question: ConditionQuestion,
): readonly ConditionAnswer[] {
  return conditions.map((condition) => ({ condition, ...holding(condition, question) }));
}

type Answer = Omit<ConditionAnswer, "condition">;

function holding({ expression }: MatchCondition, question: ConditionQuestion): Answer {
  const { cel, isTooLong } = environment();
  const answer = evaluated(cel, expression, question);
  return isTooLong() ? { holding: "unknown", why: "its regular expressions take too long" } : answer;
}

function evaluated(cel: Environment, expression: string, question: ConditionQuestion): Answer {
  try {
    const read = cel.parse(expression);
    useRe2(read.ast);
    const hidden = firstHidden(read.ast, question);
    if (hidden !== undefined) return { holding: "unknown", why: `it reads ${hidden}, which is unknown here` };
    const value: unknown = read(variables(question));
    if (typeof value === "boolean") return { holding: value ? "holds" : "does-not-hold", why: "" };
    return { holding: "unknown", why: "its result is not a boolean" };
  } catch (error) {
    const [why = ""] = messageOf(error).split("\n");
    return { holding: error instanceof EvaluationError && error.code === ABSENT ? "fails" : "unknown", why };
  }
}

/** Maximum number of steps of the regular expression automata for one condition. They take about a second. */
const MAX_STEPS = 50_000_000;
/** Cost of compiling a regular expression, counted as this number of matched characters. */
const COMPILING = 100;

/** Name of the RE2 version of `matches`. The `matches` of cel-js backtracks and cannot be replaced. */
const RE2_METHOD = "matches_by_re2";

/**
 * Returns a CEL environment for one condition with RE2's `matches`, and a function that reports whether matching took
 * too long. An error cannot report that, because `||` and macros continue after an error.
 */
function environment(): { readonly cel: Environment; readonly isTooLong: () => boolean } {
  let steps = 0;
  const isTooLong = () => steps > MAX_STEPS;
  const matches = (text: string, pattern: string): boolean => {
    if (isTooLong()) return false;
    const compiled = compileRe2(pattern);
    if (typeof compiled === "string") throw new EvaluationError(compiled);
    steps += (text.length + COMPILING) * compiled.programSize();
    return !isTooLong() && compiled.test(text);
  };
  const cel = ENVIRONMENT.clone()
    .registerFunction("matches(string, string): bool", matches)
    .registerFunction(`string.${RE2_METHOD}(string): bool`, matches);
  return { cel, isTooLong };
}

function useRe2(node: ASTNode): void {
  if (node.op === "rcall" && node.args[0] === "matches") node.args[0] = RE2_METHOD;
  for (const child of childrenOf(node)) useRe2(child);
}

/** Error code of cel-js for a missing field. The API server also fails then. */
const ABSENT = "no_such_key";

/** Metadata fields that a pod template determines. */
const OF_TEMPLATE = ["labels", "annotations"];
const OF_POD = [...OF_TEMPLATE, "name", "generateName", "namespace"];

const REQUEST = {
  kind: { group: "", version: "v1", kind: "Pod" },
  resource: { group: "", version: "v1", resource: "pods" },
  operation: "CREATE",
} as const;

function variables({ pod, namespace, isMade }: ConditionQuestion): Record<string, unknown> {
  const { labels, annotations, name, generateName } = metadataOf(pod);
  const own = isMade ? {} : { name, generateName, namespace };
  const metadata = Object.entries({ labels, annotations, ...own }).filter(([, value]) => isSaid(value));
  return {
    object: { metadata: Object.fromEntries(metadata) },
    oldObject: null,
    request: { ...REQUEST, namespace },
  };
}

/** Whether a field is present in the API server. Empty fields are omitted there. */
function isSaid(value: Value | undefined): boolean {
  return value !== undefined && value !== null && value !== "" && !(isMap(value) && Object.keys(value).length === 0);
}

type Path = readonly string[];

/** Returns the first unknown path in an expression, such as `object.spec.containers` or `authorizer`. */
function firstHidden(node: ASTNode, question: ConditionQuestion): string | undefined {
  const path = pathOf(node);
  if (path !== undefined && VARIABLES.includes(path[0] ?? "") && !isKnownPath(path, question)) return path.join(".");
  const parts = path === undefined ? childrenOf(node) : indexesOf(node);
  return parts.map((part) => firstHidden(part, question)).find((hidden) => hidden !== undefined);
}

/** Variables that the API server defines. Other names belong to macros. */
const VARIABLES = ["object", "oldObject", "request", "authorizer", "namespaceObject", "params", "variables"];

function isKnownPath([root, first = "", second = ""]: Path, { isMade }: ConditionQuestion): boolean {
  if (root === "oldObject") return first === "";
  if (root === "request") return first === "namespace" || Object.hasOwn(REQUEST, first);
  return root === "object" && first === "metadata" && (isMade ? OF_TEMPLATE : OF_POD).includes(second);
}

/** Returns the names of a variable and its fields; `undefined` for other expressions. */
function pathOf(node: ASTNode): Path | undefined {
  if (node.op === "id") return [String(node.args)];
  if (![".", ".?", "[]", "[?]"].includes(node.op) || !Array.isArray(node.args)) return undefined;
  const [of, field] = node.args;
  const path = isNode(of) ? pathOf(of) : undefined;
  if (path === undefined) return undefined;
  return typeof field === "string" ? [...path, field] : path;
}

function indexesOf(node: ASTNode): readonly ASTNode[] {
  if (!Array.isArray(node.args)) return [];
  const [of, field] = node.args;
  return [...isNode(of) ? indexesOf(of) : [], ...isNode(field) ? [field] : []];
}

function childrenOf({ args }: ASTNode): readonly ASTNode[] {
  return (Array.isArray(args) ? args : [args]).flat(2).filter(isNode);
}

function isNode(value: unknown): value is ASTNode {
  return typeof value === "object" && value !== null && "op" in value && "args" in value;
}
