import { byHand } from "../../advice/advice.ts";
import { fixesBy } from "../findings.ts";
import type { Finding } from "../../check.ts";
import { cannotTell, type Facts } from "../../facts.ts";

/** Issuers backdate certificates by about a minute. */
const MOST_SKEW = 60_000;

/**
 * The API server and this machine have the same time. Otherwise certificates and tokens are not yet valid, or
 * expired.
 */
export async function clockSkew(facts: Facts): Promise<Finding> {
  const { ahead } = await facts.version();
  if (ahead === undefined) return cannotTell("the server sends no Date header");
  if (Math.abs(ahead) <= MOST_SKEW) return { result: "ok" };
  const seconds = Math.round(Math.abs(ahead) / 1000);
  return {
    result: "warning",
    message: `the API server is ${seconds} s ${ahead > 0 ? "ahead of" : "behind"} this machine: certificates may be ` +
      `"not yet valid" for one of them`,
    fixes: fixesBy(byHand("synchronize the clocks by NTP")),
  };
}
