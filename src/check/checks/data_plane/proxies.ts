/** The proxies of pods as the kubelet reports them. */
import { oneLine } from "../../../base/errors.ts";
import type { V1ContainerStatus, V1PodCondition } from "@kubernetes/client-node/models";
import type { Plain, Pod } from "../../../kube/client/mod.ts";
import { textAt, type ValueMap } from "../../../base/value.ts";
import { containersOf, findProxy } from "../../../inject/mod.ts";
import { isAlive, statusOf } from "../../inventory/live_pods.ts";
import { printable } from "../../print/lines.ts";

/** An injected container; its status is empty until the kubelet reports one. */
export interface ContainerState {
  readonly name: string;
  readonly spec: ValueMap;
  readonly status: Plain<V1ContainerStatus>;
}

/** A live pod with a proxy. */
export interface ProxyPod {
  /** `pod/shop/cart-1`. */
  readonly object: string;
  readonly pod: Pod;
  readonly proxy: ContainerState;
  /** The init container that captures the traffic or verifies the capture, where there is one. */
  readonly init: ContainerState | undefined;
}

/** The kubelet's reasons for a missing image (k8s.io/kubernetes/pkg/kubelet/images). */
const IMAGE_REASONS = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "ErrImageNeverPull",
  "InvalidImageName",
  "ImageInspectError",
  "RegistryUnavailable",
  "SignatureValidationFailed",
]);

const INIT_NAMES = new Set(["istio-init", "istio-validation"]);

/** The live pods with a proxy, one at a time to save memory. Completed pods of Jobs are fine (linkerd2 #6128). */
export function* proxyPods(pods: readonly Pod[]): Generator<ProxyPod> {
  for (const pod of pods) {
    const spec = findProxy(pod);
    if (spec === undefined || !isAlive(pod)) continue;
    const { name, namespace = "" } = pod.metadata;
    const init = containersOf(pod, "initContainers").find((each) => INIT_NAMES.has(textAt(each, "name")));
    yield {
      object: `pod/${namespace}/${name}`,
      pod,
      proxy: stateOf(pod, spec),
      init: init === undefined ? undefined : stateOf(pod, init),
    };
  }
}

/** The state of a container of a pod. */
export function stateOf(pod: Pod, spec: ValueMap): ContainerState {
  const name = textAt(spec, "name");
  return { name, spec, status: statusOf(pod, name) ?? {} };
}

/** Why the container does not start, such as `ImagePullBackOff`; `""` if it does not wait. */
export function waitingReason({ status }: ContainerState): string {
  return status.state?.waiting?.reason ?? "";
}

/** Whether it waits for an image that the kubelet cannot get. */
export function isWithoutImage(state: ContainerState): boolean {
  return IMAGE_REASONS.has(waitingReason(state));
}

/** Why a container is not ready, as the end of a clause. */
export function unreadyText(state: ContainerState): string {
  if (waitingReason(state) !== "") return `waits: ${waitingReason(state)}`;
  return state.status.state?.running === undefined ? "does not run" : "runs but is not ready";
}

export function waitingMessage({ status }: ContainerState): string {
  return status.state?.waiting?.message ?? "";
}

export interface Ending {
  /** The container's name. */
  readonly container: string;
  readonly code: number;
  readonly reason: string;
  /** Its termination log: untrusted, and of any length. */
  readonly message: string;
}

/** How the container ended last. */
export function lastEnding({ name, status }: ContainerState): Ending | undefined {
  const ended = [status.state, status.lastState].map((state) => state?.terminated)
    .find((terminated) => terminated?.exitCode !== undefined);
  if (ended?.exitCode === undefined) return undefined;
  return { container: name, code: ended.exitCode, reason: ended.reason ?? "", message: ended.message ?? "" };
}

const LONGEST = 300;

/** Exit codes with a meaning of their own: of a shell, and of Linux (128 + signal). */
const CODES: Readonly<Record<number, string>> = {
  126: "its program cannot be executed",
  134: "it aborted",
  137: "it was killed",
  139: "a segmentation fault",
  143: "it was asked to end",
};

/** The code with which istio-init and istio-validation say that traffic is not captured. */
const UNCAPTURED = 126;
const NOT_CAPTURED = "the traffic is not captured: the CNI plugin did not run for this pod";

/** `ended with 1 (Error): Envoy exited`. */
export function endingText({ container, code, reason, message }: Ending): string {
  const meaning = code === UNCAPTURED && INIT_NAMES.has(container) ? NOT_CAPTURED : CODES[code];
  const head = `ended with ${code}${reason === "" || reason === "Error" ? "" : ` (${reason})`}`;
  return [head, ...(meaning === undefined ? [] : [meaning]), ...reported(message)].join(": ");
}

/** The end of a message, where the cause is, as one printable line; empty without a message. */
export function reported(message: string): readonly string[] {
  const text = printable(oneLine(message.slice(-4 * LONGEST))).trim();
  if (text === "") return [];
  return [text.length > LONGEST ? `...${text.slice(-LONGEST)}` : text];
}

/** A condition of the pod, such as `PodScheduled`. */
export function conditionOf({ status }: Pod, type: string): Plain<V1PodCondition> | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}
