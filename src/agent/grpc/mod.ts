/**
 * A gRPC client: unary calls and streams of bytes, over HTTP/2 that `fetch` speaks through a socket of this process.
 * Errors say how far a call came. `encodeFrame` and `frames` are for servers too.
 */
export { type CallOptions, type GrpcChannel, type GrpcStream, openChannel } from "./channel.ts";
export type { GrpcEndpoint } from "./connection.ts";
export { GrpcError, type GrpcStage } from "./error.ts";
export { encodeFrame, FrameError, FrameReader, frames } from "./frames.ts";
export { CODE } from "./status.ts";
