import type { ByteConnection } from "../../byte_connection.ts";

/** A connection of Deno's that may be closed more than once; `closed` is told the first time. */
export function closable(connection: Deno.Conn, closed?: () => void): ByteConnection {
  let isOpen = true;
  return {
    read: (buffer) => connection.read(buffer),
    write: (bytes) => connection.write(bytes),
    close() {
      if (!isOpen) return;
      isOpen = false;
      connection.close();
      closed?.();
    },
  };
}
