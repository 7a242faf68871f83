/** Represents one observation of a cluster: a value, or the reason why the value is unknown. Observing never throws. */
import { errorText } from "../../base/errors.ts";
import { ApiError } from "../../kube/client/mod.ts";

/** A value, or the reason why the value is unknown. */
export type Observed<T> = Known<T> | Unknown;

export interface Known<T> {
  readonly value: T;
}

/** `forbidden` names the missing right (`list on pods`), and `failed` describes the error. */
export type Unknown = { readonly forbidden: string } | { readonly failed: string } | Broken;

/** The reason that the source object is missing or unusable. Another check reports this. */
export interface Broken {
  readonly broken: string;
  /** The source object, such as `configmap/istio-system/istio`; may be empty. */
  readonly object: string;
}

export function isKnown<T>(observed: Observed<T>): observed is Known<T> {
  return "value" in observed;
}

/** Returns a value made from a known value, or why the value is unknown. */
export function mapKnown<T, Made>(observed: Observed<T>, make: (value: T) => Made): Observed<Made> {
  return isKnown(observed) ? { value: make(observed.value) } : observed;
}

/** Returns the items of all lists. If a list is unknown, so is the result. */
export function joined<T>(lists: readonly Observed<readonly T[]>[]): Observed<readonly T[]> {
  const unknown = lists.find((list) => !isKnown(list));
  return unknown ?? { value: lists.filter(isKnown).flatMap(({ value }) => value) };
}

/** Returns why an object is missing or unusable, for the check that reports this. */
export function breakOf(observed: Observed<unknown>): Observed<Broken | undefined> {
  if (isKnown(observed)) return { value: undefined };
  return "broken" in observed ? { value: observed } : observed;
}

/** Describes as a clause why a value is unknown. */
export function reason(observed: Unknown): string {
  if ("forbidden" in observed) return `needs ${observed.forbidden}`;
  return "failed" in observed ? observed.failed : observed.broken;
}

/** Runs a request. `right` names the right that it needs, such as `list on pods`. */
export async function observe<T>(right: string, ask: () => Promise<T>): Promise<Observed<T>> {
  try {
    return { value: await ask() };
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return { forbidden: right };
    return { failed: errorText(error) };
  }
}

/** Returns a getter that runs `ask` at most once. Concurrent callers share the result. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => answer ??= ask();
}

/** Returns a getter that runs `ask` at most once for each argument, or for each key. */
export function oncePerKey<Of, T>(ask: (of: Of) => T, keyOf: (of: Of) => string = JSON.stringify): (of: Of) => T {
  const answers = new Map<string, T>();
  return (of) => {
    const key = keyOf(of);
    const answer = answers.get(key) ?? ask(of);
    answers.set(key, answer);
    return answer;
  };
}
