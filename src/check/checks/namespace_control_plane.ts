/** Checks what istiod provides for a namespace whose pods are injected. */
import { errorLine, MeshError } from "../../base/errors.ts";
import { selectorMatches } from "../../kube/text/selector.ts";
import { parseMeshConfig } from "../../istio/mod.ts";
import { isList, isMap, mapAt, mapsAt, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { specOf } from "../../inject/mod.ts";
import { LABEL } from "../../istio/annotations/labels.ts";
import { type Advice, byHand, harmless, look } from "../advice/advice.ts";
import { copy, labelNamespace, logs, pullSecret, shows } from "../advice/commands.ts";
import type { Finding } from "../check.ts";
import { labelsOfObject, namespaceLabels } from "../inventory/injector_webhooks.ts";
import { cannotTell, type Facts, forAdvice, inEach, known } from "../facts.ts";
import type { SidecarNamespace } from "../inventory/sidecars.ts";
import { findingOf, type Problem } from "./findings.ts";

type Judge = (namespace: SidecarNamespace, facts: Facts) => readonly Problem[] | Promise<readonly Problem[]>;

export const NONE_INJECTED: Finding = { result: "skipped", message: "no namespace is injected" };

/** Returns a check that judges each namespace whose pods a webhook injects. */
export function ofInjected(judge: Judge): (facts: Facts) => Promise<Finding> {
  return async (facts) => {
    const injected = (await facts.sidecars()).filter(({ plane }) => plane !== undefined);
    if (injected.length === 0) return NONE_INJECTED;
    return findingOf(await inEach(injected, async (each) => await judge(each, facts)));
  };
}

/** Reports a namespace that no `discoverySelectors` match. istiod ignores it (istio #56574). */
export function discovered({ name, namespace, plane }: SidecarNamespace): readonly Problem[] {
  if (plane === undefined) return [];
  const { mesh, meshRef } = known(plane.texts);
  const labels = namespaceLabels(name, labelsOfObject(namespace));
  const selectors = selectorsIn(mesh);
  if (selectors.length === 0 || selectors.some((each) => selectorMatches(each, labels).matches)) return [];
  const message = `its pods are injected, but no discoverySelectors of ${meshRef} match it: ` +
    "its Services are unknown to the mesh, and its proxies get no certificate authority";
  const advice = discoveryAdvice(name, labels, selectors);
  return [{ object: `namespace/${name}`, result: "error", message, advice }];
}

/** Returns advice to add the labels that a selector requires, unless one of these labels also controls injection. */
function discoveryAdvice(name: string, labels: ValueMap, selectors: readonly Value[]): readonly Advice[] {
  const wanted = selectors.filter(isMap).map((selector) => Object.entries(mapAt(selector, "matchLabels")))
    .find((pairs) => pairs.length > 0 && pairs.every(([key]) => !DECIDING.includes(key)));
  const own = Object.fromEntries((wanted ?? []).map(([key, value]) => [key, String(value)]));
  const isEnough = selectors.some((each) => selectorMatches(each, { ...labels, ...own }).matches);
  return [
    ...isEnough
      ? [harmless("label the namespace so that a selector matches it", "namespace", labelNamespace(name, own, labels))]
      : [],
    byHand("extend discoverySelectors of the mesh configuration", "mesh"),
  ];
}

const DECIDING: readonly string[] = [LABEL.injection, LABEL.revision, LABEL.dataplaneMode];

/** Returns the `discoverySelectors`. Unknown if the mesh configuration is invalid, which another check reports. */
function selectorsIn({ text, file }: { readonly text: string; readonly file: string }): readonly Value[] {
  try {
    const { discoverySelectors = [] } = parseMeshConfig(text, file).data;
    return isList(discoverySelectors) ? discoverySelectors : [];
  } catch (error) {
    if (error instanceof MeshError) return cannotTell(errorLine(error));
    throw error;
  }
}

/** Name of the root certificate's volume in Istio's templates. */
const VOLUME = "istiod-ca-cert";

/** Reports a missing ConfigMap with the root certificate. Pods that mount it do not start (istio #22463, #43824). */
export async function rootCertificate({ name, sidecar }: SidecarNamespace, facts: Facts): Promise<readonly Problem[]> {
  const volume = mapsAt(specOf(sidecar), "volumes").find((each) => textAt(each, "name") === VOLUME);
  const map = volume === undefined ? "" : textAt(mapAt(volume, "configMap"), "name");
  if (map === "" || await facts.hasConfigMap(name, map)) return [];
  const message = `it has no ConfigMap "${map}", so injected pods wait and do not start`;
  const namespace = facts.scope.istioNamespace;
  const isThere = await forAdvice(facts.hasConfigMap(namespace, map));
  const source = { kind: "configmap", namespace, name: map };
  const advice = [
    ...isThere === true
      ? [harmless(`copy the ConfigMap from ${namespace} until istiod writes it`, "namespace", copy(source, name))]
      : [],
    look("see why istiod does not write it", logs({ kind: "deployment", namespace, name: "istiod" })),
    look(
      "see which namespaces contain it",
      shows("get", "configmaps", "-A", "--field-selector", `metadata.name=${map}`),
    ),
    byHand("give istiod the right to write ConfigMaps, and select the namespace in discoverySelectors", "mesh"),
  ];
  return [{ object: `namespace/${name}`, result: "error", message, advice }];
}

/** Reports missing pull Secrets for the proxy's image. Pods can only use Secrets of their own namespace. */
export async function pullSecrets({ name, sidecar }: SidecarNamespace, facts: Facts): Promise<readonly Problem[]> {
  const wanted = mapsAt(specOf(sidecar), "imagePullSecrets").map((each) => textAt(each, "name"));
  const missing = await inEach(
    wanted,
    async (secret) => await facts.secret({ namespace: name, name: secret }) === undefined ? [secret] : [],
  );
  if (missing.length === 0) return [];
  const message = `it has no Secret ${missing.map((each) => `"${each}"`).join(", ")} for the proxy's image`;
  const advice = [
    harmless(
      "create it from FILE, a Docker configuration file with the registry's credentials",
      "namespace",
      ...missing.map((secret) => pullSecret(secret, name, "FILE")),
    ),
  ];
  return [{ object: `namespace/${name}`, result: "error", message, advice }];
}
