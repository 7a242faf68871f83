import type * as Crypto from "node:crypto";

/** Returns node:crypto, which is loaded on the first call, because an import would slow every start. */
export function nodeCrypto(): typeof Crypto {
  return globalThis.process.getBuiltinModule("node:crypto");
}
