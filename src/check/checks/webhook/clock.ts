import { cannotTell } from "../findings.ts";
import type { Finding } from "../../check.ts";
import { type Inventory, isKnown } from "../../inventory/mod.ts";

/** Certificates are made with a minute's grace or so; tokens are refused later. */
const MOST_SKEW = 60_000;

/** The clock of the API server is that of this machine: else certificates and tokens are not valid yet, or no longer. */
export async function clockSkew(inventory: Inventory): Promise<Finding> {
  const version = await inventory.version();
  if (!isKnown(version)) return cannotTell(version);
  const { ahead } = version.value;
  if (ahead === undefined) {
    return { result: "unknown", message: "cannot tell: the server sends no Date header" };
  }
  if (Math.abs(ahead) <= MOST_SKEW) return { result: "ok" };
  const seconds = Math.round(Math.abs(ahead) / 1000);
  return {
    result: "warning",
    message: `the API server is ${seconds} s ${ahead > 0 ? "ahead of" : "behind"} this machine: certificates may be ` +
      `"not yet valid" for one of them\nsynchronize the clocks by NTP`,
  };
}
