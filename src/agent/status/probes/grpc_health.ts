/** Encodes and decodes messages of grpc.health.v1.Health in gRPC's frames. */
import { MeshError } from "../../../base/errors.ts";
import { encodeFrame } from "../../grpc/frames.ts";
import { BinaryWriter, putString, readMessage } from "../../../base/protobuf.ts";

export const CHECK = "/grpc.health.v1.Health/Check";

/** Encodes `HealthCheckRequest { string service = 1 }` in a frame. */
export function healthRequest(service: string): Uint8Array<ArrayBuffer> {
  const writer = new BinaryWriter();
  putString(writer, 1, service);
  return encodeFrame(writer.finish());
}

const STATUSES = ["UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"];

/** Decodes a framed `HealthCheckResponse { ServingStatus status = 1 }`. Throws a `MeshError` on invalid bytes. */
export function healthStatus(frame: Uint8Array): string {
  try {
    const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
    const end = 5 + view.getUint32(1);
    if (frame[0] !== 0 || frame.length < end) throw new RangeError("the frame is compressed or cut off");
    let status = 0;
    readMessage(frame.subarray(5, end), {}, { 1: (reader) => status = reader.int32() });
    return STATUSES[status] ?? String(status);
  } catch (error) {
    throw new MeshError("The response is not a HealthCheckResponse", { cause: error });
  }
}
