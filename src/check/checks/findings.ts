/** Findings about many objects: the message has the first few, `objects` all. */
import type { Advice, Fix } from "../advice/advice.ts";
import type { Named } from "../advice/commands.ts";
import type { Finding } from "../check.ts";

/** A problem of one object. */
export interface Problem {
  /** `pod/shop/cart-1`. */
  readonly object: string;
  /** `note`: worth knowing, and the check is ok. */
  readonly result: "note" | "warning" | "error";
  readonly message: string;
  readonly advice?: readonly Advice[];
}

/** A problem without the name of its object. */
export type ProblemOf = Omit<Problem, "object">;

/** An empty selection of pods must not pass. */
export const NO_POD: Finding = { result: "skipped", message: "no pod has the labels of --selector" };

/** What a rule of `inject` found in a field, as it continues after the name of an object. */
export function ofField({ field, message }: { readonly field: string; readonly message: string }): string {
  return `${field}: ${message.charAt(0).toLowerCase()}${message.slice(1)}`;
}

/** The JSON output has every object. */
const MAX_LINES = 10;

/** Advice for all objects, or for each. Advice of a problem itself takes precedence. */
export type AdviceFor = readonly Advice[] | ((object: Named) => readonly Advice[]);

/**
 * One finding for all problems, with the worst result, or `ok`. Objects with the same advice share a fix. Notes are shown
 * only if there is nothing else.
 */
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

/** The message of a check that is ok is one line. */
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

/** Objects whose advice has the same texts share a fix, with the commands of all. */
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

/** The fix of a finding that is about no object in particular. */
export function fixesBy(...alternatives: readonly Advice[]): readonly Fix[] {
  return [{ objects: [], alternatives }];
}

/** An object as findings name it: `deployment/shop/web`. */
export function refOf({ kind, namespace, name }: Named): string {
  return `${kind.toLowerCase()}/${namespace}/${name}`;
}

/** The parts of such a name. */
export function namedIn(object: string): Named {
  const [kind = "", ...names] = object.split("/");
  const [namespace = "", name] = names.length > 1 ? names : ["", ...names];
  return { kind, namespace, name: name ?? "" };
}
