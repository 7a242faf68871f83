/**
 * Everything a command uses of its process and machine, as one object. `realWorld` is the operating system through Deno;
 * `fakeWorld` is in memory, for tests.
 */
export type * from "./world.ts";
export { DialError } from "./connection.ts";
export { realWorld } from "./deno/world.ts";
export { type FakeWorld, fakeWorld, type FakeWorldOptions } from "./fake.ts";
export * from "./system_calls.ts";
export { splice, type SpliceEnd } from "./splice.ts";
export { unlessAborted } from "./unless_aborted.ts";
export { isRuntimeError, reasonOf, RUNTIME_ERRORS, type RuntimeErrorName } from "./runtime_errors.ts";
