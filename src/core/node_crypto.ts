import type * as Crypto from "node:crypto";

/** node's crypto module, loaded by the first call: importing it would slow every start of the program. */
export function nodeCrypto(): typeof Crypto {
  return globalThis.process.getBuiltinModule("node:crypto");
}
