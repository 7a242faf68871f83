/** FIPS 140-2 and the agent's own TLS. */
import { MeshError } from "../base/errors.ts";
import type { AgentSettings } from "./settings/settings.ts";

/**
 * `fips-140-2` limits TLS to version 1.2 with some ciphers. The TLS of this runtime has no such limits, nor a validation:
 * Envoy must make every connection itself. Throws a MeshError.
 */
export function refuseFips({ bootstrap, dns, envoy, identity, xds }: AgentSettings): void {
  const uses = [
    ...bootstrap.hasCustomSds || identity.isMountedOnly || identity.authority.isPlain ? [] : ["the CA"],
    ...xds.tls === undefined || bootstrap.isXdsDirect && !envoy.isDisabled ? [] : ["istiod"],
    ...xds.tls !== undefined && bootstrap.isXdsDirect && dns.isServed ? ["istiod's name table"] : [],
  ];
  if (!bootstrap.isTls12Only || uses.length === 0) return;
  throw new MeshError(
    `"COMPLIANCE_POLICY" is "fips-140-2", which this agent's own TLS to ${uses.join(" and ")} cannot keep`,
    {
      hint:
        "let Envoy connect itself (--xds direct) with a certificate from files (FILE_MOUNTED_CERTS) or SPIRE, or run Istio's agent",
    },
  );
}
