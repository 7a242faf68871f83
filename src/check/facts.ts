/** The inventory as checks read it. An unknown value ends the check, so that no check passes on missing data. */
import { atOnce } from "../base/at_once.ts";
import { counted } from "../base/text/mod.ts";
import { type Inventory, isKnown, type Observed, type Unknown } from "./inventory/mod.ts";

/** Maps a getter of an observation to a getter of its value. */
type Reading<Getter> = Getter extends (...args: infer Args) => Promise<Observed<infer Value>>
  ? (...args: Args) => Promise<Value>
  : Getter;

/** The getters of the inventory, which return values and throw if a value is unknown. */
export type Facts = { readonly [Name in keyof Inventory]: Reading<Inventory[Name]> };

/**
 * Thrown when a check reads an unknown value, and caught only in this file. `of` names the unknown objects, such as
 * `3 pods`. This class is not an Error, because checks may throw it for thousands of pods, and stack traces are slow.
 */
export class NotKnown {
  constructor(readonly why: Unknown, readonly of = "") {}
}

/** Runs a function over an inventory. Returns its result, or the unknown value that ended it. */
export async function overFacts<T>(
  inventory: Inventory,
  run: (facts: Facts) => Promise<T> | T,
): Promise<{ readonly value: T } | NotKnown> {
  return await attempt(() => run(factsOf(inventory)));
}

function factsOf(inventory: Inventory): Facts {
  const facts = Object.entries(inventory).map(([name, value]) => [name, isGetter(value) ? reading(value) : value]);
  // A type guard cannot verify a mapped type.
  return Object.fromEntries(facts) as Facts;
}

type Getter = (...args: unknown[]) => Promise<Observed<unknown>>;

function isGetter(value: unknown): value is Getter {
  return typeof value === "function";
}

function reading(getter: Getter): (...args: unknown[]) => Promise<unknown> {
  return async (...args) => known(await getter(...args));
}

/** Returns the value of an observation that is part of another value. An unknown value ends the check. */
export function known<T>(observed: Observed<T>): T {
  if (isKnown(observed)) return observed.value;
  throw new NotKnown(observed);
}

/** Ends the check with the message `cannot tell: WHY` or `cannot tell for OF: WHY`. */
export function cannotTell(why: string, of?: string): never {
  throw new NotKnown({ broken: why, object: "" }, of);
}

/** Defers a value that a check may not need. If the value is unknown, the check ends only when it uses the value. */
export async function later<T>(asked: Promise<T>): Promise<() => T> {
  const answer = await attempt(() => asked);
  return () => {
    if (answer instanceof NotKnown) throw answer;
    return answer.value;
  };
}

/**
 * Returns the first value from several sources. Skips unknown values and `undefined`. If there is no value, the first
 * unknown value ends the check, or the result is `undefined`.
 */
export async function firstKnown<T>(
  sources: readonly (() => Promise<T | undefined> | T | undefined)[],
): Promise<T | undefined> {
  let hidden: NotKnown | undefined;
  for (const source of sources) {
    const answer = await attempt(source);
    if (answer instanceof NotKnown) hidden ??= answer;
    else if (answer.value !== undefined) return answer.value;
  }
  if (hidden !== undefined) throw hidden;
  return undefined;
}

/** Returns a value for advice; `undefined` if it is unknown. The result of a check must not depend on the value. */
export async function forAdvice<T>(asked: Promise<T>): Promise<T | undefined> {
  const answer = await attempt(() => asked);
  return answer instanceof NotKnown ? undefined : answer.value;
}

/** Maximum number of requests in flight for one check. */
const AT_ONCE = 8;

/**
 * Collects findings from all items. Unknown items end the check only if the other items have no findings. In the message,
 * `what` is the noun for unknown items, such as `pod`.
 */
export async function inEach<T, Found>(
  items: readonly T[],
  find: (item: T) => Promise<readonly Found[]> | readonly Found[],
  what?: string,
): Promise<readonly Found[]> {
  const answers = await atOnce(items, AT_ONCE, (item) => attempt(() => find(item)));
  const found = answers.flatMap((answer) => answer instanceof NotKnown ? [] : answer.value);
  const hidden = answers.filter((answer) => answer instanceof NotKnown);
  const [first] = hidden;
  if (found.length > 0 || first === undefined) return found;
  throw what === undefined ? first : new NotKnown(first.why, counted(hidden.length, what));
}

async function attempt<T>(ask: () => Promise<T> | T): Promise<{ readonly value: T } | NotKnown> {
  try {
    return { value: await ask() };
  } catch (error) {
    if (error instanceof NotKnown) return error;
    throw error;
  }
}
