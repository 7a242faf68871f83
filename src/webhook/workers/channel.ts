/** Messages on a connection of this machine: Deno's pipes to a child take four times the processor time of a socket. */
import type { ByteConnection } from "../../core/world/mod.ts";
import { type Frame, FrameReader } from "./frames.ts";

const BUFFER_BYTES = 64 * 1024;

/** The messages that come, until the connection ends or breaks. Errors: a `TypeError` for what is no message. */
export async function* messagesOf(connection: ByteConnection): AsyncGenerator<Frame> {
  const buffer = new Uint8Array(BUFFER_BYTES);
  const reader = new FrameReader();
  for (;;) {
    const count = await connection.read(buffer).catch(() => null);
    if (count === null) return;
    yield* reader.push(buffer.slice(0, count));
  }
}

/** Sends messages in the order of the calls. Those that cannot be sent are lost: the reader is told by the end. */
export function senderOn(connection: ByteConnection): (message: Uint8Array) => void {
  const waiting: Uint8Array[] = [];
  let isSending = false;
  const send = async () => {
    isSending = true;
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await sendWhole(connection, next);
    } catch {
      connection.close();
    }
    isSending = false;
  };
  return (message) => {
    waiting.push(message);
    if (!isSending) void send();
  };
}

async function sendWhole(connection: ByteConnection, message: Uint8Array): Promise<void> {
  for (let sent = 0; sent < message.length;) sent += await connection.write(message.subarray(sent));
}
