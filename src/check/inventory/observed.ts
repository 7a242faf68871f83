/** One observation of a cluster: a value, or the reason why it is unknown. Observing never throws. */
import { errorText } from "../../base/errors.ts";
import { ApiError } from "../../kube/client/mod.ts";

/** The value, or why it is unknown. */
export type Observed<T> = Known<T> | Unknown;

export interface Known<T> {
  readonly value: T;
}

/** Why a value is unknown: `forbidden` names the missing right (`list on pods`), `failed` says what went wrong. */
export type Unknown = { readonly forbidden: string } | { readonly failed: string } | Broken;

/** The object it is read from is missing or unusable. Another check reports that. */
export interface Broken {
  readonly broken: string;
  /** `configmap/istio-system/istio`. */
  readonly object: string;
}

/** Whether the value is known. */
export function isKnown<T>(observed: Observed<T>): observed is Known<T> {
  return "value" in observed;
}

/** Why an object is missing or unusable, for the check that reports it; `undefined` if it is usable. */
export function breakOf(observed: Observed<unknown>): Observed<Broken | undefined> {
  if (isKnown(observed)) return { value: undefined };
  return "broken" in observed ? { value: observed } : observed;
}

/** Why the value is unknown, as a clause. */
export function reason(observed: Unknown): string {
  if ("forbidden" in observed) return `needs ${observed.forbidden}`;
  return "failed" in observed ? observed.failed : observed.broken;
}

/** Asks the API. `right` is the right that the request needs: `list on pods`. */
export async function observe<T>(right: string, ask: () => Promise<T>): Promise<Observed<T>> {
  try {
    return { value: await ask() };
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return { forbidden: right };
    return { failed: errorText(error) };
  }
}

/** A getter that asks at most once; concurrent callers share the answer. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => answer ??= ask();
}
