/** FIPS 140-2 and the agent's own TLS. */
import { MeshError } from "../base/errors.ts";
import type { AgentSettings } from "./settings/settings.ts";

/**
 * `fips-140-2` limits TLS to version 1.2 with some ciphers. The TLS of this runtime has no such limits, nor a validation:
 * Envoy must make every connection itself. Throws a MeshError.
 */
export function refuseFips(settings: AgentSettings): void {
  const uses = ownConnections(settings);
  if (!settings.bootstrap.isTls12Only || uses.length === 0) return;
  throw new MeshError(
    `"COMPLIANCE_POLICY" is "fips-140-2", which this agent's own TLS to ${uses.join(" and ")} cannot keep`,
    {
      hint: "let Envoy connect itself (--xds direct) with a certificate from files (FILE_MOUNTED_CERTS) or SPIRE, " +
        "or run Istio's agent",
    },
  );
}

/** The servers that the agent itself reaches by TLS. */
function ownConnections({ bootstrap, dns, identity, xds }: AgentSettings): string[] {
  const asksCa = !bootstrap.hasCustomSds && !identity.isMountedOnly && !identity.authority.isPlain;
  const isDirect = bootstrap.isXdsDirect && xds.grpcBootstrap === "";
  const toIstiod = isDirect ? dns.isServed ? ["istiod's name table"] : [] : ["istiod"];
  return [...asksCa ? ["the CA"] : [], ...xds.tls === undefined ? [] : toIstiod];
}
