/** Becoming another program, through the C library. */
import { cText, withExecuteLibc } from "./libc.ts";
import { SystemError } from "../system_calls.ts";

const SIGPIPE = 13;
/** SIG_DFL of signal(2). */
const DEFAULT_ACTION = 0n;

/**
 * Replaces this process by a program (execvp(3)). Files that Deno opened are closed by the kernel, handlers become the
 * default action by themselves; SIGPIPE is what the runtime ignores, and what is ignored stays so in the new program.
 */
export function execute(file: string, args: readonly string[]): never {
  const words = [file, ...args].map(cText);
  const pointers = new BigUint64Array(words.length + 1);
  words.forEach((word, index) => pointers[index] = BigInt(Deno.UnsafePointer.value(Deno.UnsafePointer.of(word))));
  let failure = 0;
  withExecuteLibc(({ symbols, errno }) => {
    const before = symbols.signal(SIGPIPE, DEFAULT_ACTION);
    symbols.execvp(cText(file), new Uint8Array(pointers.buffer));
    failure = errno();
    symbols.signal(SIGPIPE, before);
  });
  throw new SystemError(`execvp "${file}"`, failure);
}
