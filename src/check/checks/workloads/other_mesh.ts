/** Two proxies capture the traffic of one pod: neither gets all of it. The user decides which mesh the pod leaves. */
import { otherMeshSidecars } from "../../../inject/mod.ts";
import { type Advice, byHand } from "../../advice/advice.ts";
import { changePod, optedOut, type PodChange } from "../../injection/workload_advice.ts";
import { targetNamed } from "../../injection/target.ts";
import type { ExpectedPod } from "../../inventory/expectations.ts";
import { namedIn, type ProblemOf, refOf } from "../findings.ts";
import { isInMesh } from "./application.ts";

/**
 * Keeps a pod out of another mesh. Sources: Linkerd, "Automatic Proxy Injection"; Kuma, "Kubernetes annotations and
 * labels"; Consul, "Annotations and labels".
 */
const SWITCHES: Readonly<Record<string, PodChange>> = {
  Linkerd: { of: "annotations", key: "linkerd.io/inject", value: "disabled" },
  Kuma: { of: "labels", key: "kuma.io/sidecar-injection", value: "disabled" },
  Consul: { of: "annotations", key: "consul.hashicorp.com/connect-inject", value: "false" },
};

/** A pod of this mesh that has the sidecar of another one. */
export function otherMesh(expected: ExpectedPod): ProblemOf | undefined {
  const [other] = otherMeshSidecars(expected.pod);
  if (other === undefined || !isInMesh(expected)) return undefined;
  const object = namedIn(refOf(expected.owner));
  const target = targetNamed(object);
  const change = SWITCHES[other.mesh];
  // A pod without a controller keeps its containers.
  const leave: Advice[] = target === undefined || target.row.kind === "Pod" || change === undefined ? [] : [{
    ...changePod(target, change),
    change: `turn off ${other.mesh}'s injection for its pods`,
    risk: "takes-out",
    namespace: object.namespace,
  }];
  return {
    result: "error",
    message: `it has the sidecar "${other.container}" of ${other.mesh}`,
    advice: [
      byHand("take the other mesh's sidecar from its manifest, if it is written there", "workload"),
      ...leave,
      optedOut(object, "keep it out of this mesh", "takes-out"),
    ],
  };
}
