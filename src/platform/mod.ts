/**
 * The operating system and the process as one object, which every command uses. `realWorld` is the implementation
 * through Deno; tests use an in-memory version (`test/support/fake_world.ts`).
 */
export type * from "./world.ts";
export { DialError } from "./connection.ts";
export { realWorld } from "./deno/world.ts";
export * from "./system_calls.ts";
export { splice } from "./splice.ts";
export { unlessAborted } from "./unless_aborted.ts";
export { isRuntimeError, reasonOf, RUNTIME_ERRORS, type RuntimeErrorName } from "./runtime_errors.ts";
