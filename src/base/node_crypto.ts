import type * as Crypto from "node:crypto";

/** node:crypto, loaded on the first call: an import would slow every start. */
export function nodeCrypto(): typeof Crypto {
  return globalThis.process.getBuiltinModule("node:crypto");
}
