/** The CNI plugin, istio-cni or this program's mesh-cni, must run on every node with pods that need it. */
import type { Pod } from "../../../kube/client/mod.ts";
import { textAt } from "../../../base/value.ts";
import { containersOf } from "../../../inject/mod.ts";
import type { Finding } from "../../check.ts";
import { cannotTell, type Facts } from "../../facts.ts";
import { byHand, look } from "../../advice/advice.ts";
import { logs, type Named } from "../../advice/commands.ts";
import { hasAllPods } from "../../inventory/mod.ts";
import { isAlive } from "../../inventory/live_pods.ts";
import { counted } from "../../../base/text/mod.ts";
import { findingOf, type Problem } from "../findings.ts";
import { endingText, lastEnding, stateOf, unreadyText } from "./proxies.ts";

/** The container name in the plugin's DaemonSet, the same in Istio's chart and in `webhook manifests --cni`. */
const INSTALLER = "install-cni";

/** Reports nodes that run captured pods but no ready installer of the plugin. */
export async function cniOnNodes({ pods, scope }: Pick<Facts, "pods" | "scope">): Promise<Finding> {
  const all = (await pods()).filter(isAlive);
  const captured = Map.groupBy(all.filter(isCapturedByPlugin), nodeOf);
  captured.delete("");
  if (captured.size === 0) return { result: "skipped", message: "no scheduled pod is captured by the CNI plugin" };
  if (!hasAllPods(scope)) cannotTell("the plugin's pods may be in namespaces that are not checked");
  const installers = Map.groupBy(all.filter((pod) => installerOf(pod) !== undefined), nodeOf);
  const problems = [...captured].flatMap(([node, its]) => problemsOf(node, its.length, installers.get(node) ?? []));
  return findingOf(problems, seeLog);
}

/** Whether the pod has the init container `istio-validation`, which tests the iptables rules of the CNI plugin. */
function isCapturedByPlugin(pod: Pod): boolean {
  return containersOf(pod, "initContainers").some((each) => textAt(each, "name") === "istio-validation");
}

function installerOf(pod: Pod) {
  return containersOf(pod, "containers").find((each) => textAt(each, "name") === INSTALLER);
}

function nodeOf(pod: Pod): string {
  return pod.spec?.nodeName ?? "";
}

function problemsOf(node: string, count: number, installers: readonly Pod[]): Problem[] {
  if (installers.length === 0) {
    const needing = `${counted(count, "pod")} on this node ${count === 1 ? "needs" : "need"} it`;
    const message = `no CNI plugin is installed, but ${needing}`;
    const change =
      "run the plugin's DaemonSet on this node, from Istio's chart or from kubectl mesh webhook manifests --cni";
    return [{ object: `node/${node}`, result: "error", message, advice: [byHand(change)] }];
  }
  return installers.flatMap((pod) => {
    const spec = installerOf(pod);
    const state = spec === undefined ? undefined : stateOf(pod, spec);
    if (state === undefined || state.status.ready === true) return [];
    const ending = lastEnding(state);
    const last = ending === undefined ? "" : `, it ${endingText(ending)}`;
    const message = `${INSTALLER} ${
      unreadyText(state)
    }${last}: the plugin is not in the network configuration of ${node}`;
    return [{ object: `pod/${pod.metadata.namespace}/${pod.metadata.name}`, result: "error", message }];
  });
}

function seeLog(pod: Named) {
  return [look("see the cause in its log", logs(pod, "-c", INSTALLER))];
}
