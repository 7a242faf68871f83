/** What a reader of untrusted input is to the fuzzer. */
import { MeshError } from "../../src/base/errors.ts";
import type { Sources } from "./mutate.ts";

export interface FuzzReader extends Sources {
  readonly name: string;
  /** Makes the reader ready; what it returns reads one input. */
  open(): Read | Promise<Read>;
  /** Whether an error is a clear refusal of an input; by default only errors of this program are. */
  readonly refuses?: (error: unknown) => boolean;
}

/**
 * Reads an input, and proves what must hold of an accepted one. Returns whether it was accepted; throws for one that is
 * refused, and a `Broken` for a property that does not hold.
 */
export type Read = (input: Uint8Array<ArrayBuffer>) => boolean | Promise<boolean>;

/** A property that does not hold. */
export class Broken extends Error {}

/** Errors: a `Broken` with the text unless the condition holds. */
export function holds(condition: boolean, text: string): asserts condition {
  if (!condition) throw new Broken(text);
}

/** Reads one input. Errors: whatever is not a clear refusal. */
export async function readOne(read: Read, reader: FuzzReader, input: Uint8Array<ArrayBuffer>): Promise<boolean> {
  try {
    return await read(input);
  } catch (error) {
    if (isClear(error, reader)) return false;
    throw error;
  }
}

/** A clear error says something, and not too much. */
function isClear(error: unknown, { refuses = isMeshError }: FuzzReader): boolean {
  if (error instanceof Broken || !refuses(error) || !(error instanceof Error)) return false;
  return error.message.length > 0 && error.message.length < MAX_MESSAGE;
}

const MAX_MESSAGE = 200 * 1024;

function isMeshError(error: unknown): boolean {
  return error instanceof MeshError;
}

/** For readers whose callers catch every error: whether it is no defect of the code. */
export function isPlainError(error: unknown): boolean {
  const isDefect = error instanceof TypeError || error instanceof ReferenceError ||
    (error instanceof RangeError && /stack|Invalid (?:array|string|typed)/.test(error.message));
  return error instanceof Error && !isDefect;
}

/** Whether a read accepts its input. Errors: only defects. */
export function accepts(read: () => void): boolean {
  try {
    read();
    return true;
  } catch (error) {
    if (error instanceof Broken || !isPlainError(error)) throw error;
    return false;
  }
}

const lenient = new TextDecoder();

/** An input as text. */
export function textOf(input: Uint8Array): string {
  return lenient.decode(input);
}
