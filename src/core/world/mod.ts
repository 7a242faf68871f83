/**
 * The world of a command: arguments, environment, streams, clock, files, processes, signals and network as one object.
 * `realWorld` is the operating system through Deno; `fakeWorld` holds everything in memory for tests.
 */
export type * from "./world.ts";
export * from "./byte_connection.ts";
export type * from "./datagram.ts";
export type * from "./helper.ts";
export type * from "./http_client.ts";
export type * from "./tls_server.ts";
export { realWorld } from "./deno/world.ts";
export { type FakeWorld, fakeWorld, type FakeWorldOptions } from "./fake.ts";
export * from "./system_calls.ts";
export { splice, type SpliceEnd } from "./splice.ts";
export { unlessAborted } from "./unless_aborted.ts";
