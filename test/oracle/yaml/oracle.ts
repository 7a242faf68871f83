import { askGoProgram } from "../../support/programs/go_program.ts";
import type { Value } from "../../../src/base/value.ts";
import { newMap } from "../../../src/base/value.ts";

/** A question to the Go program (see main.go). */
export type Request = { read: string } | { write: unknown } | { split: string };

/** The answer; `json` is JSON text. */
export interface Answer {
  readonly json?: string;
  readonly yaml?: string;
  readonly documents?: readonly string[];
  readonly error?: string;
}

/** Asks sigs.k8s.io/yaml and Kubernetes' document reader, in a single run of the Go program. */
export async function ask(requests: readonly Request[]): Promise<Answer[]> {
  return await askGoProgram("test/oracle/yaml", requests, answer);
}

/** Parses JSON text to a value with exact integers, for comparison with the result of our reader. */
export function exactJson(text: string): Value {
  return toValue(JSON.parse(text, exactNumber));
}

function answer(line: string): Answer {
  const { json: _, ...rest } = JSON.parse(line);
  const raw = /^\{"json":(.*)\}$/s.exec(line)?.[1];
  return raw === undefined ? rest : { ...rest, json: raw };
}

/** Converts whole numbers beyond 2^53 to bigint, as Kubernetes keeps them, from the number's source text. */
function exactNumber(_key: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value === 0 ? 0 : value;
  const source = context?.source ?? "";
  return /^-?\d+$/.test(source) && source.replace("-", "").length <= 20 && inRange(BigInt(source))
    ? BigInt(source)
    : value;
}

function inRange(value: bigint): boolean {
  return value >= -(2n ** 63n) && value < 2n ** 64n;
}

function toValue(data: unknown): Value {
  if (Array.isArray(data)) return data.map(toValue);
  if (typeof data !== "object" || data === null) return data as Value; // JSON.parse and exactNumber make nothing else
  const map = newMap();
  for (const [key, value] of Object.entries(data)) map[key] = toValue(value);
  return map;
}
