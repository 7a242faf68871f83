/** The C library through FFI (Linux, glibc). */
import { type SystemCalls, SystemError } from "./system_calls.ts";

const SYMBOLS = {
  socket: { parameters: ["i32", "i32", "i32"], result: "i32" },
  send: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  recv: { parameters: ["i32", "buffer", "usize", "i32"], result: "isize" },
  open: { parameters: ["buffer", "i32"], result: "i32" },
  close: { parameters: ["i32"], result: "i32" },
  setns: { parameters: ["i32", "i32"], result: "i32" },
  __errno_location: { parameters: [], result: "pointer" },
} as const;

const AF_NETLINK = 16;
const SOCK_RAW_CLOEXEC = 3 | 0o2000000;
const O_CLOEXEC = 0o2000000;
const CLONE_NEWNET = 0x40000000;
const MESSAGE_DONE = 3;
const MESSAGE_ERROR = 2;
const FLAG_MULTI = 2;

/** Opens the library. Throws where there is none. */
export function openLibc(): SystemCalls {
  const { symbols } = Deno.dlopen("libc.so.6", SYMBOLS);
  const fail = (call: string): never => {
    const place = symbols.__errno_location();
    throw new SystemError(call, place === null ? 0 : new Deno.UnsafePointerView(place).getInt32());
  };
  const checked = (call: string, result: number | bigint) => result < 0 ? fail(call) : Number(result);
  const receive = (socket: number): Uint8Array => {
    const buffer = new Uint8Array(1 << 17);
    return buffer.slice(0, checked("recv", symbols.recv(socket, buffer, BigInt(buffer.length), 0)));
  };
  return {
    netlink(protocol, message) {
      const socket = checked("socket", symbols.socket(AF_NETLINK, SOCK_RAW_CLOEXEC, protocol));
      try {
        checked("send", symbols.send(socket, message as Uint8Array<ArrayBuffer>, BigInt(message.length), 0));
        return readAnswer(() => receive(socket));
      } finally {
        symbols.close(socket);
      }
    },
    enterNetworkNamespace(path) {
      const name = new TextEncoder().encode(`${path}\0`);
      const file = checked("open", symbols.open(name, O_CLOEXEC));
      try {
        checked("setns", symbols.setns(file, CLONE_NEWNET));
      } finally {
        symbols.close(file);
      }
    },
  };
}

/** Parts are read until the one that says that it is the last. */
function readAnswer(receive: () => Uint8Array): Uint8Array {
  const parts: Uint8Array[] = [];
  for (;;) {
    const part = receive();
    parts.push(part);
    if (endsAnswer(part)) break;
  }
  const answer = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    answer.set(part, at);
    at += part.length;
  }
  return answer;
}

function endsAnswer(part: Uint8Array): boolean {
  const view = new DataView(part.buffer, part.byteOffset, part.byteLength);
  for (let at = 0; at + 16 <= part.length; at += Math.max(16, (view.getUint32(at, true) + 3) & ~3)) {
    const type = view.getUint16(at + 4, true);
    if (type === MESSAGE_DONE || type === MESSAGE_ERROR || (view.getUint16(at + 6, true) & FLAG_MULTI) === 0) {
      return true;
    }
  }
  return part.length === 0;
}
