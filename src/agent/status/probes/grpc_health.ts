/** Messages of grpc.health.v1.Health in gRPC's frames: protobuf of a text and of a number, so no library is needed. */
import { MeshError } from "../../../core/errors.ts";

/** The path of the method. */
export const CHECK = "/grpc.health.v1.Health/Check";

/** `HealthCheckRequest { string service = 1 }` in a frame: not compressed, length, message. */
export function healthRequest(service: string): Uint8Array<ArrayBuffer> {
  const name = new TextEncoder().encode(service);
  const message = name.length === 0 ? [] : [0x0a, ...varint(name.length), ...name];
  const frame = new Uint8Array(5 + message.length);
  new DataView(frame.buffer).setUint32(1, message.length);
  frame.set(message, 5);
  return frame;
}

/** `HealthCheckResponse.ServingStatus`. */
const STATUSES = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];

/** The status in a frame with a `HealthCheckResponse { ServingStatus status = 1 }`. Throws a `MeshError` if it is none. */
export function healthStatus(frame: Uint8Array): string {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  const isWhole = frame.length >= 5 && frame[0] === 0 && frame.length >= 5 + view.getUint32(1);
  const status = isWhole ? firstField(frame.subarray(5, 5 + view.getUint32(1))) : undefined;
  if (status === undefined) throw new MeshError("The answer is no HealthCheckResponse");
  return STATUSES[status] ?? String(status);
}

/** The number of field 1, 0 if it is not there; `undefined` for what is no message. Other fields are passed over. */
function firstField(message: Uint8Array): number | undefined {
  let status = 0;
  let at = 0;
  while (at < message.length) {
    const tag = readVarint(message, at);
    const wire = tag === undefined ? undefined : WIRES[tag.value & 7];
    const field = tag === undefined ? undefined : wire?.(message, tag.end);
    if (tag === undefined || field === undefined || field.end > message.length) return undefined;
    if (tag.value === 0x08) status = field.value;
    at = field.end;
  }
  return status;
}

/** A number, and where it ends. */
interface Read {
  readonly value: number;
  readonly end: number;
}

/** How fields are written, by wire type. */
const WIRES: Readonly<Record<number, (bytes: Uint8Array, at: number) => Read | undefined>> = {
  0: readVarint,
  1: (_bytes, at) => ({ value: 0, end: at + 8 }),
  2(bytes, at) {
    const length = readVarint(bytes, at);
    return length === undefined ? undefined : { value: 0, end: length.end + length.value };
  },
  5: (_bytes, at) => ({ value: 0, end: at + 4 }),
};

function readVarint(bytes: Uint8Array, start: number): Read | undefined {
  let value = 0;
  for (let at = start, scale = 1; at < bytes.length && at < start + 10; at++, scale *= 128) {
    const byte = bytes[at] ?? 0;
    value += (byte & 0x7f) * scale;
    if (byte < 0x80) return { value, end: at + 1 };
  }
  return undefined;
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [value % 128 + 128, ...varint(Math.floor(value / 128))];
}
