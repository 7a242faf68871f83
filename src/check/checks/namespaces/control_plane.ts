/** What the control plane must do for a namespace whose pods are injected. */
import { MeshError } from "../../../core/errors.ts";
import { selectorMatches } from "../../../core/kube/text/selector.ts";
import { parseMeshConfig } from "../../../core/mesh/mod.ts";
import { isList, mapAt, mapsAt, textAt, type Value } from "../../../core/value.ts";
import { specOf } from "../../../inject/mod.ts";
import type { Finding } from "../../check.ts";
import { labelsOfObject, namespaceLabels } from "../../inventory/injector_webhooks.ts";
import { type Inventory, isKnown, type Observed, type Unknown } from "../../inventory/mod.ts";
import type { SidecarNamespace } from "../../inventory/sidecars.ts";
import { cannotTell, findingOrUnknown, type Problem } from "../findings.ts";

type Judge = (
  namespace: SidecarNamespace,
  inventory: Inventory,
) => Observed<readonly Problem[]> | Promise<Observed<readonly Problem[]>>;

/** A check of each namespace that a webhook injects. */
export function ofInjected(judge: Judge, advice: string): (inventory: Inventory) => Promise<Finding> {
  return async (inventory) => {
    const sidecars = await inventory.sidecars();
    if (!isKnown(sidecars)) return cannotTell(sidecars);
    const injected = sidecars.value.filter(({ planned }) => !planned);
    if (injected.length === 0) return { result: "skipped", message: "no namespace is injected" };
    const problems: Problem[] = [];
    let unknown: Unknown | undefined;
    for (const found of await Promise.all(injected.map((each) => judge(each, inventory)))) {
      if (isKnown(found)) problems.push(...found.value);
      else unknown ??= found;
    }
    return findingOrUnknown(problems, unknown, advice);
  };
}

const NOTHING = { value: [] };

/** istiod ignores namespaces that none of its `discoverySelectors` match (istio #56574). */
export function discovered({ name, namespace, plane }: SidecarNamespace): Observed<readonly Problem[]> {
  const texts = plane?.texts;
  if (texts === undefined) return NOTHING;
  if (!isKnown(texts)) return texts;
  const labels = namespaceLabels(name, labelsOfObject(namespace));
  const selectors = selectorsIn(texts.value.mesh);
  if (selectors.length === 0 || selectors.some((each) => selectorMatches(each, labels).matches)) return NOTHING;
  const message = `its pods are injected, but no discoverySelectors of ${texts.value.meshRef} match it: ` +
    "its Services are unknown to the mesh, and its proxies get no certificate authority";
  return { value: [{ object: `namespace/${name}`, result: "error", message }] };
}

/** An invalid mesh configuration has its own check. */
function selectorsIn({ text, file }: { readonly text: string; readonly file: string }): readonly Value[] {
  try {
    const { discoverySelectors = [] } = parseMeshConfig(text, file).data;
    return isList(discoverySelectors) ? discoverySelectors : [];
  } catch (error) {
    if (error instanceof MeshError) return [];
    throw error;
  }
}

/** The volume of the root certificate in Istio's templates: of `istio-ca-root-cert`, or of the bundle that values name. */
const VOLUME = "istiod-ca-cert";

/**
 * istiod writes the ConfigMap with its root certificate to each namespace. Without it pods wait for their volume
 * (istio #22463, #43824).
 */
export async function rootCertificate(
  { name, sidecar }: SidecarNamespace,
  inventory: Inventory,
): Promise<Observed<readonly Problem[]>> {
  const volume = mapsAt(specOf(sidecar), "volumes").find((each) => textAt(each, "name") === VOLUME);
  const map = volume === undefined ? "" : textAt(mapAt(volume, "configMap"), "name");
  if (map === "") return NOTHING;
  const found = await inventory.configMap(name, map);
  if (!isKnown(found)) return found;
  if (found.value !== undefined) return NOTHING;
  const message = `it has no ConfigMap "${map}": injected pods wait for it and do not start`;
  return { value: [{ object: `namespace/${name}`, result: "error", message }] };
}

/** Pods can use Secrets of their own namespace only; the injector adds the names of `global.imagePullSecrets`. */
export async function pullSecrets(
  { name, sidecar }: SidecarNamespace,
  inventory: Inventory,
): Promise<Observed<readonly Problem[]>> {
  const wanted = mapsAt(specOf(sidecar), "imagePullSecrets").map((each) => textAt(each, "name"));
  const found = await Promise.all(wanted.map((secret) => inventory.secret({ namespace: name, name: secret })));
  const unknown = found.find((each) => !isKnown(each));
  if (unknown !== undefined && !isKnown(unknown)) return unknown;
  const missing = wanted.filter((_, index) => {
    const secret = found[index];
    return secret !== undefined && isKnown(secret) && secret.value === undefined;
  });
  if (missing.length === 0) return NOTHING;
  const message = `it has no Secret ${missing.map((each) => `"${each}"`).join(", ")} for the proxy's image`;
  return { value: [{ object: `namespace/${name}`, result: "error", message }] };
}
