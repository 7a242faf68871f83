/** What is known of a cluster: a value, or why there is none. Asking never throws. */
import { errorLine, MeshError, messageOf } from "../../core/errors.ts";
import { ApiError } from "../../core/kube/client/mod.ts";
import type { Finding } from "../check.ts";

/** A value; or what right it needs, such as `list on pods`; or what went wrong. */
export type Fact<T> = Known<T> | Unknown;

/** A value that could be had. */
export interface Known<T> {
  readonly value: T;
}

/** Why a value could not be had. */
export type Unknown = { readonly forbidden: string } | { readonly failed: string } | Broken;

/** What it is made from is there or should be, and cannot be used: a check of its own tells that. */
export interface Broken {
  readonly broken: string;
  /** `configmap/istio-system/istio`. */
  readonly object: string;
}

/** Whether a fact has its value. */
export function isKnown<T>(fact: Fact<T>): fact is Known<T> {
  return "value" in fact;
}

/**
 * The finding for a fact that could not be had. What is forbidden is unknown (`cannot tell: needs list on pods`), and
 * what is broken is told once; a server that fails is an error, or a cluster that goes away would pass.
 */
export function cannotTell(fact: Unknown): Finding {
  return { result: "failed" in fact ? "error" : "unknown", message: `cannot tell: ${reason(fact)}` };
}

/** Why a fact could not be had, as a clause. */
export function reason(fact: Unknown): string {
  if ("forbidden" in fact) return `needs ${fact.forbidden}`;
  return "failed" in fact ? fact.failed : fact.broken;
}

/**
 * What a question to the API answered. `right` is what asking it takes: `list on pods`.
 */
export async function asFact<T>(right: string, ask: () => Promise<T>): Promise<Fact<T>> {
  try {
    return { value: await ask() };
  } catch (error) {
    if (error instanceof ApiError && error.status === 403) return { forbidden: right };
    return { failed: error instanceof MeshError ? errorLine(error) : messageOf(error) };
  }
}

/** A getter that asks at most once; those that ask meanwhile wait for the same answer. */
export function once<T>(ask: () => Promise<T>): () => Promise<T> {
  let answer: Promise<T> | undefined;
  return () => answer ??= ask();
}
