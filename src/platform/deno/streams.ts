import { ClosedPipeError, MeshError, messageOf } from "../../base/errors.ts";
import { RUNTIME_ERRORS } from "../runtime_errors.ts";
import { plainText, terminalText } from "../../base/text/mod.ts";
import type { Input, Output } from "../world.ts";
import { isHandled } from "./signals.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder();
/** Bytes per read. */
export const CHUNK_BYTES = 64 * 1024;

/** Time in which the runtime delivers a signal that is sent just before standard input ends. */
const SIGNAL_MILLISECONDS = 10;

/** Standard input in chunks of at most 64 KiB. */
export function realInput(): Input {
  return {
    get isTerminal() {
      return Deno.stdin.isTerminal();
    },
    async *chunks() {
      yield* readInPieces(Deno.stdin);
      // Ctrl-C also ends the program that writes the input. The wait lets SIGINT reach this process before the input
      // counts as complete.
      if (isHandled("SIGINT")) await new Promise((resolve) => setTimeout(resolve, SIGNAL_MILLISECONDS));
    },
  };
}

/**
 * Standard output or standard error. `write` returns after all bytes are written, so an exit right after it loses no output.
 * `isClosed`: the stream was closed when the program started, and the runtime has opened /dev/null in its place.
 */
export function realOutput(stream: typeof Deno.stdout, isClosed = false): Output {
  return {
    get isTerminal() {
      return stream.isTerminal();
    },
    get columns() {
      return stream.isTerminal() ? sizeOf()?.columns || undefined : undefined;
    },
    get rows() {
      return stream.isTerminal() ? sizeOf()?.rows || undefined : undefined;
    },
    write(chunk) {
      if (isClosed) throw new MeshError("Cannot write the output: standard output is closed");
      try {
        writeWhole(stream, bytesFor(stream, chunk));
      } catch (error) {
        if (error instanceof ClosedPipeError) throw error;
        throw new MeshError(`Cannot write the output: ${systemReason(error)}`, { cause: error });
      }
    },
  };
}

/**
 * Escapes control characters from names, messages and manifests for a terminal, and always on standard error, which logs
 * of CI systems show. Files and pipes get all bytes of standard output unchanged.
 */
function bytesFor(stream: typeof Deno.stdout, chunk: string | Uint8Array): Uint8Array {
  const isConversation = stream === Deno.stderr;
  if (!isConversation && !stream.isTerminal()) return typeof chunk === "string" ? encoder.encode(chunk) : chunk;
  const text = typeof chunk === "string" ? chunk : decoder.decode(chunk);
  return encoder.encode(isConversation ? plainText(text) : terminalText(text));
}

/** Returns the size of the terminal at standard input, output or error. Some terminals do not report their size. */
function sizeOf(): ReturnType<typeof Deno.consoleSize> | undefined {
  try {
    return Deno.consoleSize();
  } catch {
    // No standard stream is a terminal.
    return undefined;
  }
}

/** Returns the kernel's text of an error, without the error number. */
export function systemReason(error: unknown): string {
  const [text = ""] = messageOf(error).split(RUNTIME_ERRORS.ofKernel.pattern, 1);
  return text.charAt(0).toLowerCase() + text.slice(1);
}

/** Reads a stream to its end. */
export async function* readInPieces(stream: { read(p: Uint8Array): Promise<number | null> }) {
  const buffer = new Uint8Array(CHUNK_BYTES);
  for (;;) {
    const count = await stream.read(buffer);
    if (count === null) return;
    yield buffer.slice(0, count);
  }
}

/** Writes all bytes, in several calls if needed. Throws `ClosedPipeError` if the pipe's reader has closed. */
export function writeWhole(stream: { writeSync(p: Uint8Array): number }, bytes: Uint8Array): void {
  try {
    for (let done = 0; done < bytes.length;) done += stream.writeSync(bytes.subarray(done));
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) {
      throw new ClosedPipeError("The reader of the output has closed the pipe");
    }
    throw error;
  }
}
