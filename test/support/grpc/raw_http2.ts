/** Hand-written frames of HTTP/2 (RFC 9113), for requests that no client library sends. */

const TYPE = { data: 0, headers: 1, reset: 3, settings: 4 } as const;
const END_HEADERS = 4;
const CANCEL = 8;

/** A connection on a Unix socket with one stream, number 1. */
export class RawStream implements Disposable {
  private constructor(readonly connection: Deno.UnixConn) {}

  /** Sends the headers of a gRPC request (POST). */
  static async open(socket: string, path: string): Promise<RawStream> {
    const stream = new RawStream(await Deno.connect({ transport: "unix", path: socket }));
    await stream.#write(new TextEncoder().encode("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"));
    await stream.#write(frame(TYPE.settings, 0, 0, []));
    // 0x83 and 0x86 are `:method: POST` and `:scheme: http` in the static table (RFC 7541, appendix A).
    const fields = [0x83, 0x86, ...field(":path", path), ...field(":authority", "sds-grpc")];
    const content = field("content-type", "application/grpc");
    await stream.#write(frame(TYPE.headers, END_HEADERS, 1, [...fields, ...content]));
    return stream;
  }

  async send(bytes: Uint8Array): Promise<void> {
    await this.#write(frame(TYPE.data, 0, 1, [...bytes]));
  }

  /** Resets the stream. The connection stays open. */
  async reset(): Promise<void> {
    await this.#write(frame(TYPE.reset, 0, 1, [0, 0, 0, CANCEL]));
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let at = 0; at < bytes.length;) at += await this.connection.write(bytes.subarray(at));
  }

  [Symbol.dispose](): void {
    this.connection.close();
  }
}

function frame(type: number, flags: number, stream: number, payload: readonly number[]): Uint8Array {
  return Uint8Array.of(0, payload.length >> 8, payload.length & 255, type, flags, 0, 0, 0, stream, ...payload);
}

/** Encodes a header field that is not in a table (RFC 7541, 6.2.2). */
function field(name: string, value: string): number[] {
  const text = (each: string) => [each.length, ...new TextEncoder().encode(each)];
  return [0, ...text(name), ...text(value)];
}
