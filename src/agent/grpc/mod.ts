/**
 * gRPC as a client, as much as the agent needs: calls of one message and of streams, over HTTP/2 that `fetch` speaks through
 * a socket of this process. In: bytes of messages. Out: bytes of messages, and errors that say how far a call came.
 * `encodeFrame` and `frames` are for servers too. Messages themselves are read and written by who knows them.
 */
export { type CallOptions, type GrpcChannel, type GrpcStream, openChannel } from "./channel.ts";
export type { GrpcEndpoint, GrpcTls } from "./connection.ts";
export { GrpcError, type GrpcStage } from "./error.ts";
export { encodeFrame, FrameError, FrameReader, frames, LARGEST_MESSAGE } from "./frames.ts";
export { CODE, codeName } from "./status.ts";
