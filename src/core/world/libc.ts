/** The C library (glibc on Linux) and its symbols that this program calls. */
import { SystemError } from "./system_calls.ts";

const SYMBOLS = {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  bind: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  listen: { parameters: ["i32", "i32"], result: "i32" },
  connect: { parameters: ["i32", "buffer", "u32"], result: "i32" },
  accept4: { parameters: ["i32", "buffer", "buffer", "i32"], result: "i32" },
  getsockname: { parameters: ["i32", "buffer", "buffer"], result: "i32" },
  getsockopt: { parameters: ["i32", "i32", "i32", "buffer", "buffer"], result: "i32" },
  setsockopt: { parameters: ["i32", "i32", "i32", "buffer", "u32"], result: "i32" },
  send: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  recv: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  open: { parameters: ["buffer", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  setns: { parameters: ["i32", "i32"], result: "i32" },
  setfsuid: { parameters: ["u32"], result: "i32" },
  setfsgid: { parameters: ["u32"], result: "i32" },
  if_nametoindex: { parameters: ["buffer"], result: "u32" },
  __errno_location: { parameters: [], result: "pointer" },
} as const;

/** The library, opened; `check` turns a negative result into a `SystemError` with errno. */
export type Libc = ReturnType<typeof openLibc>;

const ENOSYS = 38;

/** Opens the library. Throws `SystemError` where there is none. */
export function openLibc() {
  const { symbols } = openLibrary();
  function errno(): number {
    const place = symbols.__errno_location();
    return place === null ? 0 : new Deno.UnsafePointerView(place).getInt32();
  }
  function check(call: string, result: number | bigint): number {
    if (result < 0) throw new SystemError(call, errno());
    return Number(result);
  }
  return { symbols, check, errno };
}

function openLibrary() {
  try {
    return Deno.dlopen("libc.so.6", SYMBOLS);
  } catch (error) {
    throw new SystemError(`libc.so.6: ${error instanceof Error ? error.message : String(error)}`, ENOSYS);
  }
}

/** A text as C has it. */
export function cText(text: string): Uint8Array<ArrayBuffer> {
  return new TextEncoder().encode(`${text}\0`);
}
