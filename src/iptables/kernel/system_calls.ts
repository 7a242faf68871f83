/** Calls of the operating system that Deno has none for: of the world, named here for this room's packages. */
export { EEXIST, ENOENT, EPERM, type SystemCalls, SystemError } from "../../core/world/mod.ts";
