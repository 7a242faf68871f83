/** An SDS client that works as Envoy's does, with `fetch` over a Unix socket. */
import { BinaryReader, BinaryWriter } from "@bufbuild/protobuf/wire";
import { encodeFrame, frames } from "../../../src/agent/grpc/mod.ts";

const METHOD = "/envoy.service.secret.v3.SecretDiscoveryService/";

/** A request. Missing fields are not sent. */
export interface Ask {
  readonly names?: readonly string[];
  readonly version?: string;
  readonly nonce?: string;
  readonly type?: string;
  readonly refusal?: string;
  /** Number of bytes in the node's metadata. */
  readonly metadata?: number;
}

/** A response, with each secret as `certificate|key` or as the list of authorities. */
export interface Answer {
  readonly version: string;
  readonly nonce: string;
  readonly type: string;
  readonly secrets: ReadonlyMap<string, string>;
}

/** Returns functions that send calls over one connection. */
export function sdsClient(path: string) {
  const client = Deno.createHttpClient({ http1: false, http2: true, proxy: { transport: "unix", path } });
  const post = (method: string, body: BodyInit, headers = {}) =>
    fetch(`http://sds-grpc${method}`, {
      method: "POST",
      body,
      headers: { "content-type": "application/grpc", te: "trailers", ...headers },
      client,
    });
  return {
    stream: () => openStream((body) => post(`${METHOD}StreamSecrets`, body)),
    /** Sends one message to a different method. Returns the headers of the response. */
    async call(method: string, headers: Record<string, string> = {}) {
      const response = await post(
        method.startsWith("/") ? method : `${METHOD}${method}`,
        encodeFrame(asked({})),
        headers,
      );
      const text = await response.text();
      return { status: response.status, headers: response.headers, text };
    },
    [Symbol.dispose]: () => client.close(),
  };
}

/** An open stream. */
export interface SdsStream {
  ask(ask: Ask): Promise<void>;
  send(bytes: Uint8Array): Promise<void>;
  /** Returns the next response; `undefined` at the end. Rejects if the stream fails. */
  next(): Promise<Answer | undefined>;
  /** Returns the next response, and accepts it (ACK). */
  accepted(): Promise<Answer>;
  /** Closes the stream, and waits until the server has closed it too. */
  close(): Promise<void>;
}

async function openStream(post: (body: BodyInit) => Promise<Response>): Promise<SdsStream> {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  const response = await post(readable);
  const answers = frames(response.body ?? new Blob().stream());
  const send = (bytes: Uint8Array) => writer.write(bytes);
  const next = async () => {
    const { done, value } = await answers.next();
    return done === true ? undefined : answered(value);
  };
  const ask = (request: Ask) => send(encodeFrame(asked(request)));
  return {
    ask,
    send,
    next,
    async accepted() {
      const answer = await next();
      if (answer === undefined) throw new Error("The stream has ended");
      await ask({ names: [...answer.secrets.keys()], version: answer.version, nonce: answer.nonce });
      return answer;
    },
    async close() {
      await writer.close().catch(() => {});
      while (await next().catch(() => {}) !== undefined);
    },
  };
}

const LENGTH_DELIMITED = 2;

/** Returns the bytes of an `envoy.service.discovery.v3.DiscoveryRequest`. */
export function asked({ names = [], version = "", nonce = "", type = "", refusal, metadata = 0 }: Ask): Uint8Array {
  const writer = new BinaryWriter();
  const text = (number: number, value: string, to = writer) => to.tag(number, LENGTH_DELIMITED).string(value);
  text(1, version);
  const node = writer.tag(2, LENGTH_DELIMITED).fork();
  text(1, "sidecar~10.0.0.1~a.b~b.svc", node);
  text(3, "m".repeat(metadata), node);
  node.join();
  for (const name of names) text(3, name);
  text(4, type);
  text(5, nonce);
  if (refusal !== undefined) {
    const status = writer.tag(6, LENGTH_DELIMITED).fork();
    status.uint32(8).uint32(3);
    text(2, refusal, status).join();
  }
  return writer.finish();
}

function answered(message: Uint8Array): Answer {
  const fields = fieldsOf(message);
  const secrets = (fields.get(2) ?? []).map((any) => secretOf(fieldsOf(fieldsOf(any).get(2)?.[0])));
  const [version, type, nonce] = [1, 4, 5].map((number) => textAt(fields, number));
  return { version: version ?? "", type: type ?? "", nonce: nonce ?? "", secrets: new Map(secrets) };
}

function secretOf(fields: Fields): [string, string] {
  const inline = (message: Uint8Array | undefined, number: number) =>
    textAt(fieldsOf(fieldsOf(message).get(number)?.[0]), 2);
  const [pair, context] = [fields.get(2)?.[0], fields.get(4)?.[0]];
  const content = pair === undefined ? inline(context, 1) : `${inline(pair, 1)}|${inline(pair, 2)}`;
  return [textAt(fields, 1), content];
}

type Fields = ReadonlyMap<number, readonly Uint8Array[]>;

function fieldsOf(message: Uint8Array | undefined): Fields {
  const reader = new BinaryReader(message ?? new Uint8Array());
  const fields = new Map<number, Uint8Array[]>();
  while (reader.pos < reader.len) {
    const [number, type] = reader.tag();
    if (Number(type) !== LENGTH_DELIMITED) throw new Error(`Field ${number} has the wire type ${type}`);
    fields.set(number, [...fields.get(number) ?? [], reader.bytes()]);
  }
  return fields;
}

function textAt(fields: Fields, number: number): string {
  return new TextDecoder().decode(fields.get(number)?.at(-1));
}
