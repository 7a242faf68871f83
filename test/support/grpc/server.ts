/** A gRPC server that sends headers, a message and trailers, because `Deno.serve` cannot send trailers. */

const PREFACE = 24;
const FRAME = { data: 0, headers: 1, settings: 4 } as const;
const END_STREAM = 1;
const ACK = 1;
const END_HEADERS = 4;

/** Responds to the first call on each connection with this message, and this status in the trailers. */
export function grpcServer(message: readonly number[], status: number) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const ended = acceptAll(listener, message, status);
  return {
    port: listener.addr.port,
    async [Symbol.asyncDispose]() {
      listener.close();
      await ended;
    },
  };
}

async function acceptAll(listener: Deno.TcpListener, message: readonly number[], status: number): Promise<void> {
  const open: Promise<void>[] = [];
  try {
    for (;;) open.push(answer(await listener.accept(), message, status));
  } catch {
    await Promise.all(open);
  }
}

async function answer(connection: Deno.TcpConn, message: readonly number[], status: number): Promise<void> {
  const send = (bytes: readonly number[]) => connection.write(Uint8Array.from(bytes));
  try {
    await send(frame(FRAME.settings, 0, 0, []));
    for await (const { type, stream, flags } of framesOf(connection)) {
      if (type === FRAME.settings && (flags & ACK) === 0) await send(frame(FRAME.settings, ACK, 0, []));
      if (type !== FRAME.data || (flags & END_STREAM) === 0) continue;
      await send([
        ...frame(FRAME.headers, END_HEADERS, stream, [0x88, ...literal("content-type", "application/grpc")]),
        ...frame(FRAME.data, 0, stream, [0, 0, 0, 0, message.length, ...message]),
        ...frame(FRAME.headers, END_HEADERS | END_STREAM, stream, literal("grpc-status", String(status))),
      ]);
    }
  } catch {
    // The client has disconnected.
  }
  connection.close();
}

interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly stream: number;
}

/** Reads the headers of the frames that a client sends (RFC 9113 4.1). */
async function* framesOf(connection: Deno.TcpConn): AsyncGenerator<Frame> {
  let bytes: number[] = [];
  let skip = PREFACE;
  const buffer = new Uint8Array(16_384);
  for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
    bytes.push(...buffer.subarray(0, count));
    for (;;) {
      if (bytes.length < skip + 9) break;
      const [high = 0, middle = 0, low = 0, type = 0, flags = 0, ...rest] = bytes.slice(skip, skip + 9);
      const length = high << 16 | middle << 8 | low;
      if (bytes.length < skip + 9 + length) break;
      bytes = bytes.slice(skip + 9 + length);
      skip = 0;
      yield { type, flags, stream: rest.at(-1) ?? 0 };
    }
  }
}

function frame(type: number, flags: number, stream: number, payload: readonly number[]): number[] {
  return [0, payload.length >> 8, payload.length & 255, type, flags, 0, 0, 0, stream, ...payload];
}

/** Encodes a header field that is not in a table (RFC 7541 6.2.2). */
function literal(name: string, value: string): number[] {
  const text = (each: string) => [each.length, ...new TextEncoder().encode(each)];
  return [0, ...text(name), ...text(value)];
}
