import { askGoProgram } from "../../support/programs/go_program.ts";
import type { Value } from "../../../src/base/value.ts";
import { newMap } from "../../../src/base/value.ts";

/** What the Go program can be asked: see main.go. */
export type Request = { read: string } | { write: unknown } | { split: string };

/** What it answers; `json` is JSON text. */
export interface Answer {
  readonly json?: string;
  readonly yaml?: string;
  readonly documents?: readonly string[];
  readonly error?: string;
}

/** Asks sigs.k8s.io/yaml and Kubernetes' document reader, all requests in one run of the Go program. */
export async function ask(requests: readonly Request[]): Promise<Answer[]> {
  return await askGoProgram("test/oracle/yaml", requests, answer);
}

/** JSON text as a value with exact integers, so that it can be compared with what our reader gives. */
export function exactJson(text: string): Value {
  return toValue(JSON.parse(text, exactNumber));
}

function answer(line: string): Answer {
  const { json: _, ...rest } = JSON.parse(line);
  const raw = /^\{"json":(.*)\}$/s.exec(line)?.[1];
  return raw === undefined ? rest : { ...rest, json: raw };
}

/** Whole numbers beyond 2^53 as bigint, as Kubernetes keeps them; JavaScript gives the source text of a number. */
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
