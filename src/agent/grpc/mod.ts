/**
 * A gRPC client for unary calls and byte streams. `fetch` speaks HTTP/2 over a socket of this process. Errors name the
 * step at which a call failed. Servers can use `encodeFrame` and `frames` too.
 */
export { grpcCall, type GrpcRequest, type GrpcStream, grpcStream } from "./call.ts";
export { dialEndpoint, type GrpcEndpoint } from "./connection.ts";
export { GrpcError, type GrpcStage } from "./error.ts";
export { encodeFrame, FrameError, FrameReader, frames } from "./frames.ts";
export { CODE } from "./status.ts";
