/** Refuses FIPS 140-2 if the agent itself would use TLS. */
import { MeshError } from "../base/errors.ts";
import type { AgentSettings } from "./settings/read.ts";

/**
 * Throws a MeshError if the agent itself would use TLS under `fips-140-2`, which allows only TLS 1.2 with certain
 * ciphers. This runtime's TLS has no such limits and is not validated, so Envoy must make every connection.
 */
export function refuseFips(settings: AgentSettings): void {
  const uses = ownConnections(settings);
  if (!settings.bootstrap.isTls12Only || uses.length === 0) return;
  throw new MeshError(
    `"COMPLIANCE_POLICY" is "fips-140-2", which this agent's own TLS to ${uses.join(" and ")} does not comply with`,
    {
      hint: "let Envoy connect itself (--xds direct) with a certificate from files (FILE_MOUNTED_CERTS) or SPIRE, " +
        "or run Istio's agent",
    },
  );
}

/** Returns the servers to which the agent itself connects over TLS. */
function ownConnections({ bootstrap, dns, identity, xds }: AgentSettings): string[] {
  const asksCa = !bootstrap.hasCustomSds && !identity.isMountedOnly && !identity.authority.isPlain;
  const isDirect = bootstrap.isXdsDirect && xds.grpcBootstrap === "";
  const toIstiod = isDirect ? dns.isServed ? ["istiod's name table"] : [] : ["istiod"];
  return [...asksCa ? ["the CA"] : [], ...xds.tls === undefined ? [] : toIstiod];
}
