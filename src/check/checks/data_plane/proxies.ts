/** Reads the state of proxies from the pod status that the kubelet reports. */
import { oneLine } from "../../../base/errors.ts";
import type { V1ContainerStatus, V1PodCondition } from "@kubernetes/client-node/models";
import type { Plain, Pod } from "../../../kube/client/mod.ts";
import { textAt, type ValueMap } from "../../../base/value.ts";
import { containersOf, findProxy } from "../../../inject/mod.ts";
import { isAlive, statusOf } from "../../inventory/live_pods.ts";
import { printable } from "../../print/lines.ts";

/** A container of a pod. The status is empty until the kubelet has reported one. */
export interface ContainerState {
  readonly name: string;
  readonly spec: ValueMap;
  readonly status: Plain<V1ContainerStatus>;
}

export interface ProxyPod {
  /** Reference of the object: `pod/shop/cart-1`. */
  readonly object: string;
  readonly pod: Pod;
  readonly proxy: ContainerState;
  /** The init container that captures the traffic or verifies the capture; `undefined` if the pod has none. */
  readonly init: ContainerState | undefined;
}

/** Waiting reasons of the kubelet that mean an image is not available (k8s.io/kubernetes/pkg/kubelet/images). */
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

/** Yields the live pods with a proxy, one at a time to save memory. Skips completed pods of Jobs (linkerd2 #6128). */
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

export function stateOf(pod: Pod, spec: ValueMap): ContainerState {
  const name = textAt(spec, "name");
  return { name, spec, status: statusOf(pod, name) ?? {} };
}

/** Returns the kubelet's waiting reason, such as `ImagePullBackOff`; `""` if the container does not wait. */
export function waitingReason({ status }: ContainerState): string {
  return status.state?.waiting?.reason ?? "";
}

export function isWithoutImage(state: ContainerState): boolean {
  return IMAGE_REASONS.has(waitingReason(state));
}

/** Describes why a container is not ready. The text follows the container's name: `runs but is not ready`. */
export function unreadyText(state: ContainerState): string {
  if (waitingReason(state) !== "") return `waits: ${waitingReason(state)}`;
  return state.status.state?.running === undefined ? "does not run" : "runs but is not ready";
}

export function waitingMessage({ status }: ContainerState): string {
  return status.state?.waiting?.message ?? "";
}

export interface Ending {
  readonly container: string;
  readonly code: number;
  readonly reason: string;
  /** The termination message of the container. It is untrusted and can be of any length. */
  readonly message: string;
}

/** Returns the latest termination of the container; `undefined` if it never terminated. */
export function lastEnding({ name, status }: ContainerState): Ending | undefined {
  const ended = [status.state, status.lastState].map((state) => state?.terminated)
    .find((terminated) => terminated?.exitCode !== undefined);
  if (ended?.exitCode === undefined) return undefined;
  return { container: name, code: ended.exitCode, reason: ended.reason ?? "", message: ended.message ?? "" };
}

/** The end of advice for an image that cannot be pulled. */
export const OR_NETWORK = "or give the nodes network access to the registry";

const LONGEST = 300;

/** Exit codes with a conventional meaning: 126 from a shell, and 128 + signal number. */
const CODES: Readonly<Record<number, string>> = {
  126: "its program cannot be executed",
  134: "it aborted",
  137: "it was killed",
  139: "a segmentation fault",
  143: "it was terminated",
};

/** Exit code of istio-init and istio-validation when traffic is not captured. */
const UNCAPTURED = 126;
const NOT_CAPTURED = "the traffic is not captured: the CNI plugin did not run for this pod";

/** Describes a termination: `ended with 1 (Error): Envoy exited`. */
export function endingText({ container, code, reason, message }: Ending): string {
  const meaning = code === UNCAPTURED && INIT_NAMES.has(container) ? NOT_CAPTURED : CODES[code];
  const head = `ended with ${code}${reason === "" || reason === "Error" ? "" : ` (${reason})`}`;
  return [head, ...(meaning === undefined ? [] : [meaning]), ...reported(message)].join(": ");
}

/** Shortens an untrusted message to one printable line, or none. Keeps its end, because the cause is there. */
export function reported(message: string): readonly string[] {
  const text = printable(oneLine(message.slice(-4 * LONGEST))).trim();
  if (text === "") return [];
  return [text.length > LONGEST ? `...${text.slice(-LONGEST)}` : text];
}

export function conditionOf({ status }: Pod, type: string): Plain<V1PodCondition> | undefined {
  return status?.conditions?.find((condition) => condition.type === type);
}
