/** The server's end in ambient mode: the ztunnel of the pod's node accepts the connection and enforces policies. */
import { hostAndPort } from "../address.ts";
import { detailOf, passing, refusing, type Step, unsure } from "../connection/connection_path.ts";
import type { Facts } from "../connection/facts.ts";
import { portStep } from "../connection/port_step.ts";
import type { Peer } from "../question/question.ts";
import { type Workload, workloadOf, type ZtunnelDump } from "../ztunnel/dump.ts";
import { type PolicyRuling, rulingOf } from "../ztunnel/policies.ts";

/** Properties of the client that ztunnel's policies check. */
interface AmbientClient {
  readonly peer: Peer;
  /** IP address of the client; empty if unknown. */
  readonly address: string;
}

/** Returns the steps after the pod's own step: ztunnel, TLS, authorization, and the application's port. */
export function ambientSteps(client: AmbientClient, facts: Facts, endpoint: string): readonly Step[] {
  const { ztunnel, snapshot } = facts;
  const workload = typeof ztunnel === "string" ? undefined : workloadOf(ztunnel, snapshot.pod);
  const tls = tlsStep(client.peer);
  if (typeof ztunnel === "string" || workload === undefined) {
    const why = typeof ztunnel === "string" ? ztunnel : "it does not know this pod";
    const message = `ambient mode: the state of the ztunnel of its node is unknown: ${why}`;
    return [unsure("ztunnel", { message }), tls, portStep(facts, endpoint)];
  }
  return [
    ztunnelStep(workload),
    tls,
    policyStep(client, ztunnel, workload, endpoint),
    portStep(facts, endpoint),
  ];
}

function ztunnelStep({ isHbone, identity, waypoint, policies, addresses: [address = ""] }: Workload): Step {
  const takes = isHbone ? "accepts HBONE tunnels for the pod" : "does not accept HBONE tunnels for the pod";
  return passing("ztunnel", {
    name: address,
    message: `ambient mode: the ztunnel of its node ${takes}, as ${identity}`,
    detail: detailOf({ identity, waypoint, policies }),
  });
}

function tlsStep({ tls, isTunnel }: Peer): Step {
  if (tls === "mutual" && !isTunnel) {
    const message =
      "the client uses mutual TLS on the application's port, but ztunnel terminates mutual TLS only in tunnels";
    const fix = "set trafficPolicy.tls.mode of the DestinationRule to DISABLE, or delete the DestinationRule";
    return refusing("tls", { message }, fix);
  }
  const spoken = tls === "simple" ? "TLS to the application" : "plain text";
  return passing("tls", {
    message: isTunnel
      ? "ztunnel terminates the tunnel's mutual TLS"
      : `${spoken}, which ztunnel forwards unless a policy refuses it`,
  });
}

function policyStep(
  { peer, address }: AmbientClient,
  ztunnel: ZtunnelDump,
  workload: Workload,
  endpoint: string,
): Step {
  const { host: destination, port } = hostAndPort(endpoint) ?? { host: endpoint, port: 0 };
  const identity = peer.isTunnel ? peer.identity : "none";
  const ruling = rulingOf(ztunnel, workload, { identity, source: address, destination, port });
  const who = identity === "none" ? "a client without mutual TLS" : identity ?? "the client";
  return rulingStep(ruling, who, peer.proxyFix);
}

/** Whether Istio generated a policy from a PeerAuthentication (pilot/pkg/serviceregistry/kube/controller/ambient). */
function isOfPeerAuthentication(policy: string): boolean {
  const name = policy.slice(policy.lastIndexOf("/") + 1);
  return name === "istio_converted_static_strict" || name.startsWith("converted_peer_authentication_");
}

function rulingStep({ outcome, policy }: PolicyRuling, who: string, proxyFix: string | undefined): Step {
  const isStrict = isOfPeerAuthentication(policy);
  const name = isStrict ? "a PeerAuthentication with mode STRICT" : `the AuthorizationPolicy ${policy}`;
  if (outcome === "unknown") {
    return unsure("authorization", { name: policy, message: `it is unknown whether ${name} refuses ${who}` });
  }
  if (outcome === "denied") {
    const why = proxyFix === undefined ? "" : ": the client's pod has no proxy";
    const fix = isStrict
      ? proxyFix ?? "configure the client to use mutual TLS, or set mtls.mode of the PeerAuthentication to PERMISSIVE"
      : `allow ${who} in spec.rules of the AuthorizationPolicy ${policy}`;
    return refusing("authorization", { name: policy, message: `${name} refuses ${who}${why}` }, fix);
  }
  const message = policy === "" ? "no policy in ztunnel refuses the connection" : `allowed by ${name}`;
  return passing("authorization", { name: policy, message });
}
