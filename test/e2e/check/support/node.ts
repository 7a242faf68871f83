/**
 * Simulates the scheduler, the kubelet and the agent: makes the status of a pod from the pod's spec and the state of
 * the node. It does not know the advice.
 */
import { isMap, mapAt, textAt, type ValueMap } from "../../../../src/base/value.ts";
import { parseYaml } from "../../../../src/yaml/mod.ts";
import { findProxy } from "../../../../src/inject/mod.ts";
import { podAmounts } from "../../../../src/check/policies/pod_resources.ts";
import type { Reports } from "./mesh_cluster.ts";

/** The resources of a node, and the hosts that it can reach. */
export interface NodeFacts {
  /** Free CPU, in millicores. */
  readonly freeCpu?: bigint;
  /** Matches the images in the registry. */
  readonly images?: RegExp;
  /** Matches the addresses of control planes that can be reached. */
  readonly controlPlanes?: RegExp;
  /** Whether the CNI plugin captures the traffic of new pods. */
  readonly hasCniPlugin?: boolean;
  /** Whether the control plane responds to new proxies. */
  readonly isAnswered?: boolean;
}

const ENDED = { image: "", imageID: "", ready: false, restartCount: 1 };

/** Returns a function that makes the status of new pods on a node. Each pod uses the next state of the node. */
export function onNode(...states: readonly NodeFacts[]): (pod: ValueMap) => Reports {
  let made = 0;
  return (pod) => reportsOf(pod, states[Math.min(made++, states.length - 1)] ?? {});
}

function reportsOf(pod: ValueMap, node: NodeFacts): Reports {
  return RULES.map((rule) => rule(pod, node)).find((reports) => reports !== undefined) ?? {};
}

/** The status of a pod that requests more CPU than is free. */
export function unscheduled(pod: ValueMap, freeCpu: bigint | undefined): ValueMap | undefined {
  const wanted = podAmounts(pod).get("requests.cpu") ?? 0n;
  if (freeCpu === undefined || wanted <= freeCpu) return undefined;
  const message = "0/1 nodes are available: 1 Insufficient cpu.";
  const condition = { type: "PodScheduled", status: "False", reason: "Unschedulable", message };
  return { phase: "Pending", conditions: [condition], containerStatuses: [], initContainerStatuses: [] };
}

/** The state of a container whose image is not in the registry. */
export function withoutImage(image: string, images: RegExp | undefined): ValueMap | undefined {
  if (images === undefined || images.test(image)) return undefined;
  const waiting = { reason: "ImagePullBackOff", message: `${image}: not found` };
  return { ready: false, state: { waiting } };
}

const RULES: readonly ((pod: ValueMap, node: NodeFacts) => Reports | undefined)[] = [
  (pod, { freeCpu }) => {
    const status = unscheduled(pod, freeCpu);
    return status && { status };
  },
  (pod, { images }) => {
    const proxy = withoutImage(textAt(findProxy(pod) ?? {}, "image"), images);
    return proxy && { proxy };
  },
  (_pod, { hasCniPlugin }) => {
    if (hasCniPlugin !== false) return undefined;
    const state = { terminated: { exitCode: 126, reason: "Error" } };
    const initContainerStatuses = [{ name: "istio-validation", ...ENDED, state }];
    const waiting = { reason: "PodInitializing" };
    return { proxy: { ready: false, state: { waiting } }, status: { phase: "Pending", initContainerStatuses } };
  },
  (pod, { controlPlanes }) => {
    const { annotations } = mapAt(pod, "metadata");
    const config = parseYaml(textAt(isMap(annotations) ? annotations : {}, "proxy.istio.io/config"));
    const address = textAt(isMap(config) ? config : {}, "discoveryAddress");
    return address === "" || controlPlanes?.test(address) !== false ? undefined : { proxy: { ready: false } };
  },
  (_pod, { isAnswered }) => {
    const crashed = { terminated: { exitCode: 255, reason: "Error", message: "no token" } };
    return isAnswered === false ? { proxy: { restartCount: 2, lastState: crashed } } : undefined;
  },
];
