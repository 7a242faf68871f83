/** The interface of a reader of untrusted input, for the fuzzer. */
import { MeshError } from "../../src/base/errors.ts";
import type { Sources } from "./mutate.ts";

export interface FuzzReader extends Sources {
  readonly name: string;
  /** Prepares the reader. The returned function reads one input. */
  open(): Read | Promise<Read>;
  /** Whether an error is a clear rejection of an input; by default, only the program's own errors are. */
  readonly refuses?: (error: unknown) => boolean;
}

/**
 * Reads an input, and checks the properties of an accepted input. Returns whether it is accepted. Throws an error if it
 * is rejected, and a `Broken` if a property does not hold.
 */
export type Read = (input: Uint8Array<ArrayBuffer>) => boolean | Promise<boolean>;

/** A property that does not hold. */
export class Broken extends Error {}

/** Throws a `Broken` with the text unless the condition is true. */
export function holds(condition: boolean, text: string): asserts condition {
  if (!condition) throw new Broken(text);
}

/** Reads one input. Throws every error that is not a clear rejection. */
export async function readOne(read: Read, reader: FuzzReader, input: Uint8Array<ArrayBuffer>): Promise<boolean> {
  try {
    return await read(input);
  } catch (error) {
    if (isClear(error, reader)) return false;
    throw error;
  }
}

/** Whether the message of an error is neither empty nor too long. */
function isClear(error: unknown, { refuses = isMeshError }: FuzzReader): boolean {
  if (error instanceof Broken || !refuses(error) || !(error instanceof Error)) return false;
  return error.message.length > 0 && error.message.length < MAX_MESSAGE;
}

const MAX_MESSAGE = 200 * 1024;

function isMeshError(error: unknown): boolean {
  return error instanceof MeshError;
}

/** Whether an error is not a defect of the code, for readers whose callers catch every error. */
export function isPlainError(error: unknown): boolean {
  const isDefect = error instanceof TypeError || error instanceof ReferenceError ||
    (error instanceof RangeError && /stack|Invalid (?:array|string|typed)/.test(error.message));
  return error instanceof Error && !isDefect;
}

/** Returns whether a read accepts its input. Throws only defects. */
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
