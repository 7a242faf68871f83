/** Findings about many objects. The message lists the first objects, and `objects` lists all. */
import type { Advice, Fix } from "../advice/advice.ts";
import type { Named } from "../advice/commands.ts";
import type { Finding } from "../check.ts";

/** A problem of one object. */
export interface Problem {
  /** Reference of the object: `pod/shop/cart-1`. */
  readonly object: string;
  /** `note`: the check passes, and its message shows the note. */
  readonly result: "note" | "warning" | "error";
  readonly message: string;
  readonly advice?: readonly Advice[];
}

/** A problem without the name of its object. */
export type ProblemOf = Omit<Problem, "object">;

/** The finding if `--selector` matches no pod. A check without any pod must not pass. */
export const NO_POD: Finding = { result: "skipped", message: "no pod has the labels of --selector" };

/** The finding of checks of the whole cluster when `--namespace` limits the scope. */
export const WHOLE_CLUSTER: Finding = {
  result: "skipped",
  message: "the check needs the whole cluster, but --namespace selects one namespace",
};

/** Formats a problem in a field as `FIELD: message`, with the message in lower case, to follow an object's name. */
export function ofField({ field, message }: { readonly field: string; readonly message: string }): string {
  return `${field}: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}

/** Maximum number of objects in the message. The JSON output lists every object. */
const MAX_LINES = 10;

/** The same advice for all objects, or a function of the object. A problem's own advice takes precedence. */
export type AdviceFor = readonly Advice[] | ((object: Named) => readonly Advice[]);

/** Returns one finding with the worst result. Objects with the same advice share a fix. Problems hide notes. */
export function findingOf(problems: readonly Problem[], advice: AdviceFor = []): Finding {
  if (problems.every(({ result }) => result === "note")) return noted(problems);
  const errors = problems.filter(({ result }) => result === "error");
  const ordered = [...errors, ...problems.filter(({ result }) => result === "warning")];
  const lines = ordered.slice(0, MAX_LINES).map(({ object, message }) => `${object}: ${message}`);
  if (ordered.length > MAX_LINES) lines.push(`and ${ordered.length - MAX_LINES} more`);
  return {
    result: errors.length > 0 ? "error" : "warning",
    message: lines.join("\n"),
    objects: [...new Set(ordered.map(({ object }) => object))],
    fixes: fixesOf(ordered, advice),
  };
}

/** Returns an `ok` finding with the first note. The message of an `ok` finding is one line. */
function noted(notes: readonly Problem[]): Finding {
  const [first] = notes;
  if (first === undefined) return { result: "ok" };
  const more = notes.length === 1 ? "" : `, and ${notes.length - 1} more like it`;
  return {
    result: "ok",
    message: `worth knowing: ${first.object}: ${first.message}${more}`,
    objects: [...new Set(notes.map(({ object }) => object))],
  };
}

/** Returns a fix for each group of objects whose advice has the same text, with the commands for all these objects. */
function fixesOf(problems: readonly Problem[], general: AdviceFor): readonly Fix[] {
  const all = problems.map(({ object, advice }) => {
    return { object, alternatives: advice ?? (typeof general === "function" ? general(namedIn(object)) : general) };
  });
  const key = (alternatives: readonly Advice[]) => {
    return JSON.stringify(alternatives.map(({ change, reach, risk, namespace }) => [change, reach, risk, namespace]));
  };
  return [...Map.groupBy(all, ({ alternatives }) => key(alternatives)).values()].map((same) => ({
    objects: [...new Set(same.map(({ object }) => object))],
    alternatives: (same[0]?.alternatives ?? []).map((each, index) => ({
      ...each,
      steps: same.flatMap(({ alternatives }) => alternatives[index]?.steps ?? []),
    })),
  }));
}

/** Returns the fix of a finding that is not about specific objects. */
export function fixesBy(...alternatives: readonly Advice[]): readonly Fix[] {
  return [{ objects: [], alternatives }];
}

/** Parses the reference of an object, such as `deployment/shop/web` or `node/a`. */
export function namedIn(object: string): Named {
  const [kind = "", ...names] = object.split("/");
  const [namespace = "", name] = names.length > 1 ? names : ["", ...names];
  return { kind, namespace, name: name ?? "" };
}
