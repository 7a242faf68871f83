/**
 * Opens functions of the C library (glibc). Opening a function takes a quarter of a millisecond, so each caller opens
 * only the functions that it calls.
 */
import { messageOf } from "../../base/errors.ts";
import { SystemError } from "../system_calls.ts";

const ERRNO = { __errno_location: { parameters: [], result: "pointer" } } as const;

/** Open functions of the C library. They work also after giving up permissions. */
export interface Libc<Functions extends Deno.ForeignLibraryInterface> extends Disposable {
  readonly symbols: Deno.StaticForeignLibraryInterface<Functions>;
  /** Returns the result of a call. Throws `SystemError` with errno for a negative result. */
  check(call: string, result: number | bigint): number;
  errno(): number;
  close(): void;
}

const LIBRARY = "libc.so.6";
const ENOSYS = 38;

/** Opens functions. Throws `SystemError` on a system without glibc. */
export function openLibc<Functions extends Deno.ForeignLibraryInterface>(functions: Functions): Libc<Functions> {
  const library = opened(functions);
  const errors = opened(ERRNO);
  function errno(): number {
    const place = errors.symbols.__errno_location();
    return place === null ? 0 : new Deno.UnsafePointerView(place).getInt32();
  }
  function check(call: string, result: number | bigint): number {
    if (result < 0) throw new SystemError(call, errno());
    return Number(result);
  }
  function close(): void {
    library.close();
    errors.close();
  }
  return { symbols: library.symbols, check, errno, close, [Symbol.dispose]: close };
}

function opened<Functions extends Deno.ForeignLibraryInterface>(functions: Functions): Deno.DynamicLibrary<Functions> {
  try {
    return Deno.dlopen(LIBRARY, functions);
  } catch (error) {
    throw new SystemError(`${LIBRARY}: ${messageOf(error)}`, ENOSYS);
  }
}

/** Returns the text as NUL-terminated UTF-8. */
export function cText(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}

/** Returns a number as the bytes of an `int`. */
export function cInt(value: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Int32Array.of(value).buffer);
}
