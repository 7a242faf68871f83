/**
 * The `matchConditions` of a webhook: expressions in CEL, all of which must hold, or the API server does not call it
 * (Kubernetes, "Dynamic Admission Control", matching requests: matchConditions). What an expression reads must be known
 * here as the API server knows it, else there is no answer: of a pod these are the metadata that its manifest says, and
 * not the fields that defaults and other plugins fill in.
 */
import { type ASTNode, Environment, EvaluationError } from "@marcbachmann/cel-js";
import { messageOf } from "../../core/errors.ts";
import { isMap, type Value } from "../../core/value.ts";
import { metadataOf, type Pod } from "../../inject/mod.ts";
import type { MatchCondition } from "../inventory/injector_webhooks.ts";

/** What is asked about. */
export interface ConditionQuestion {
  readonly pod: Pod;
  readonly namespace: string;
  /** A controller makes it: its name and its owner are not those of the template. */
  readonly isMade: boolean;
}

/** `fails`: the expression cannot be evaluated for this pod, by the API server neither. */
export type Holding = "holds" | "does-not-hold" | "fails" | "unknown";

/** What became of a condition. */
export interface ConditionAnswer {
  readonly condition: MatchCondition;
  readonly holding: Holding;
  /** Why it fails, or cannot be told. */
  readonly why: string;
}

const ENVIRONMENT = new Environment({ enableOptionalTypes: true })
  .registerVariable("object", "dyn")
  .registerVariable("oldObject", "dyn")
  .registerVariable("request", "dyn");

/** Asks each condition. Throws nothing: an expression that is none, or of which too little is known, is `unknown`. */
export function askConditions(
  conditions: readonly MatchCondition[],
  question: ConditionQuestion,
): readonly ConditionAnswer[] {
  return conditions.map((condition) => ({ condition, ...holding(condition, question) }));
}

function holding({ expression }: MatchCondition, question: ConditionQuestion): Omit<ConditionAnswer, "condition"> {
  try {
    const read = ENVIRONMENT.parse(expression);
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

/** The code of a field that is not there, which is so in the API server too. */
const ABSENT = "no_such_key";

/** Metadata of a pod that are as its manifest or its template says. */
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

/** The API server leaves out what is empty. */
function isSaid(value: Value | undefined): boolean {
  return value !== undefined && value !== null && value !== "" && !(isMap(value) && Object.keys(value).length === 0);
}

type Path = readonly string[];

/** The first path of an expression that is not known: `object.spec.containers`, `authorizer`. */
function firstHidden(node: ASTNode, question: ConditionQuestion): string | undefined {
  const path = pathOf(node);
  if (path !== undefined && VARIABLES.includes(path[0] ?? "") && !isKnownPath(path, question)) return path.join(".");
  const parts = path === undefined ? childrenOf(node) : indexesOf(node);
  return parts.map((part) => firstHidden(part, question)).find((hidden) => hidden !== undefined);
}

/** What the API server gives an expression; other names are those of its macros. */
const VARIABLES = ["object", "oldObject", "request", "authorizer", "namespaceObject", "params", "variables"];

function isKnownPath([root, first = "", second = ""]: Path, { isMade }: ConditionQuestion): boolean {
  if (root === "oldObject") return first === "";
  if (root === "request") return first === "namespace" || Object.hasOwn(REQUEST, first);
  return root === "object" && first === "metadata" && (isMade ? OF_TEMPLATE : OF_POD).includes(second);
}

/** The names of a variable and its fields, as far as they are names; `undefined` for what is no such path. */
function pathOf(node: ASTNode): Path | undefined {
  if (node.op === "id") return [String(node.args)];
  if (![".", ".?", "[]", "[?]"].includes(node.op) || !Array.isArray(node.args)) return undefined;
  const [of, field] = node.args;
  const path = isNode(of) ? pathOf(of) : undefined;
  if (path === undefined) return undefined;
  return typeof field === "string" ? [...path, field] : path;
}

/** What stands in the brackets of a path. */
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
