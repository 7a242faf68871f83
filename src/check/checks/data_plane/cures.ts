/** Advice to change a workload so that its proxies recover. */
import { MeshError } from "../../../base/errors.ts";
import { ANNOTATION } from "../../../istio/annotations/names.ts";
import { isMap, textAt, type ValueMap } from "../../../base/value.ts";
import { parseYaml, toYaml } from "../../../yaml/mod.ts";
import type { Pod } from "../../../kube/client/mod.ts";
import { podOwner } from "../../../inject/mod.ts";
import { type Advice, byHand, harmless } from "../../advice/advice.ts";
import { edit, type Named } from "../../advice/commands.ts";
import { type Facts, forAdvice } from "../../facts.ts";
import { annotatedPod, recreated } from "../../injection/workload_advice.ts";
import { isKnown } from "../../inventory/mod.ts";
import { namedIn } from "../findings.ts";
import { type Amounts, amountsOf, amountText } from "../../policies/pod_resources.ts";

function workloadOf(pod: Pod): Named {
  const { kind, namespace, name } = podOwner(pod, pod.metadata.namespace ?? "");
  return { kind: kind.toLowerCase(), namespace, name };
}

const RESOURCES = [
  ["requests.cpu", ANNOTATION.proxyCpu],
  ["requests.memory", ANNOTATION.proxyMemory],
  ["limits.cpu", ANNOTATION.proxyCpuLimit],
  ["limits.memory", ANNOTATION.proxyMemoryLimit],
] as const;

/** Sets all known amounts: one annotation makes the templates ignore all resources in the injector's values. */
function resourceAnnotations(amounts: Amounts): Readonly<Record<string, string>> {
  return Object.fromEntries(RESOURCES.flatMap(([name, annotation]) => {
    const amount = amounts.get(name);
    return amount === undefined ? [] : [[annotation, amountText(amount, name)]];
  }));
}

/** Advice for a proxy that was OOM-killed. */
export function moreMemory(pod: Pod, proxy: ValueMap): readonly Advice[] {
  const amounts = amountsOf(proxy);
  const limit = amounts.get("limits.memory");
  const narrower = byHand("limit the proxy's configuration with a Sidecar resource", "namespace");
  if (limit === undefined) return [narrower];
  const annotations = resourceAnnotations(new Map([...amounts, ["limits.memory", 2n * limit]]));
  const change = "double the proxy's memory limit, and keep its other resources";
  return [annotatedPod(workloadOf(pod), change, annotations), narrower];
}

/** Resource requests of a proxy in Istio's demo profile, in thousandths of a CPU and of a byte. */
const SMALLEST: Amounts = new Map([["requests.cpu", 10n], ["requests.memory", 40n * 1024n ** 2n * 1000n]]);

/** Advice for a pod that fits on no node. `said` is the scheduler's message (kubernetes, plugins/noderesources). */
export function smallerRequests(pod: Pod, proxy: ValueMap, said: string): readonly Advice[] {
  const amounts = amountsOf(proxy);
  const lower = [...SMALLEST].filter(([name, amount]) => {
    return said.includes(`Insufficient ${name.slice("requests.".length)}`) && (amounts.get(name) ?? 0n) > amount;
  });
  if (lower.length === 0) return [];
  const amountTexts = lower.map(([name, amount]) => `${name.slice("requests.".length)} ${amountText(amount, name)}`);
  const change = `lower the proxy's requests to ${amountTexts.join(" and ")}, as in Istio's demo profile`;
  return [annotatedPod(workloadOf(pod), change, resourceAnnotations(new Map([...amounts, ...lower])))];
}

/** Advice to recreate the pods of the workload. `when` is the precondition: `when the nodes are ready`. */
export function recreatedWhen(pod: Pod, when: string): Advice {
  const advice = recreated(workloadOf(pod));
  return { ...advice, change: `${advice.change}, ${when}` };
}

/** Advice to remove the pod annotation that overrides the proxy's image. */
export function withoutOwnImage(pod: Pod): readonly Advice[] {
  if (pod.metadata.annotations?.[ANNOTATION.proxyImage] === undefined) return [];
  const change = `use the image from the injector's values: remove the annotation ${ANNOTATION.proxyImage}`;
  return [annotatedPod(workloadOf(pod), change, { [ANNOTATION.proxyImage]: null })];
}

/** Advice to remove the control plane's address from the pod's own proxy configuration. */
export function withoutOwnControlPlane(pod: Pod): readonly Advice[] {
  const config = parsed(pod.metadata.annotations?.[ANNOTATION.proxyConfig] ?? "");
  if (config === undefined || textAt(config, ADDRESS) === "") return [];
  const { [ADDRESS]: address, ...rest } = config;
  const value = Object.keys(rest).length === 0 ? null : toYaml(rest);
  const change = `use the mesh's control plane, not "${address}": remove ${ADDRESS} from ${ANNOTATION.proxyConfig}`;
  return [{ ...annotatedPod(workloadOf(pod), change, { [ANNOTATION.proxyConfig]: value }), isGuess: true }];
}

const ADDRESS = "discoveryAddress";

/** Returns `undefined` for invalid YAML, which the injector refuses too. */
function parsed(text: string): ValueMap | undefined {
  try {
    const value = parseYaml(text);
    return isMap(value) ? value : undefined;
  } catch (error) {
    if (error instanceof MeshError) return undefined;
    throw error;
  }
}

/** Returns a function that returns advice to correct the image in the injector's values and recreate the pod. */
export async function otherImages(facts: Facts): Promise<(object: Named) => readonly Advice[]> {
  const expected = await forAdvice(facts.expectations()) ?? [];
  return ({ namespace, name }) => {
    const found = expected.find(({ pod: { metadata } }) => metadata.namespace === namespace && metadata.name === name);
    const texts = found?.plane?.texts;
    if (found === undefined || texts === undefined || !isKnown(texts)) return [];
    const again = recreated(workloadOf(found.pod));
    const change = `correct hub or tag in the injector's key "values", and ${again.change}`;
    return [{ ...again, ...harmless(change, "mesh", edit(namedIn(texts.value.injectorRef)), ...again.steps) }];
  };
}
