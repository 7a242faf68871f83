/** Finds pods in two meshes. Neither proxy gets all of the traffic. The user decides which mesh the pod leaves. */
import { otherMeshSidecars } from "../../../inject/mod.ts";
import { type Advice, byHand } from "../../advice/advice.ts";
import { changePod, optedOut, type PodChange } from "../../injection/workload_advice.ts";
import { targetNamed } from "../../injection/target.ts";
import type { ExpectedPod } from "../../inventory/expectations.ts";
import { namedIn, type ProblemOf } from "../findings.ts";
import { refOf } from "../../advice/commands.ts";
import { isInMesh } from "./application.ts";

/**
 * Labels and annotations that opt a pod out of another mesh. Sources: Linkerd, "Automatic Proxy Injection"; Kuma,
 * "Kubernetes annotations and labels"; Consul, "Annotations and labels".
 */
const SWITCHES: Readonly<Record<string, PodChange>> = {
  Linkerd: { of: "annotations", key: "linkerd.io/inject", value: "disabled" },
  Kuma: { of: "labels", key: "kuma.io/sidecar-injection", value: "disabled" },
  Consul: { of: "annotations", key: "consul.hashicorp.com/connect-inject", value: "false" },
};

export function otherMesh(expected: ExpectedPod): ProblemOf | undefined {
  const [other] = otherMeshSidecars(expected.pod);
  if (other === undefined || !isInMesh(expected)) return undefined;
  const object = namedIn(refOf(expected.owner));
  const target = targetNamed(object);
  const change = SWITCHES[other.mesh];
  // If a pod has no controller, turning off injection does not remove the sidecar that is already in its manifest.
  const leave: Advice[] = target === undefined || target.row.kind === "Pod" || change === undefined ? [] : [{
    ...changePod(target, change),
    change: `turn off injection by ${other.mesh} for its pods`,
    risk: "takes-out",
    namespace: object.namespace,
  }];
  return {
    result: "error",
    message: `it has the sidecar "${other.container}" of ${other.mesh}`,
    advice: [
      byHand("remove the other mesh's sidecar from its manifest, if the manifest contains it", "workload"),
      ...leave,
      optedOut(object, "keep it out of this mesh", "takes-out"),
    ],
  };
}
