/** What is done to a pod that is about to be created: the same injection as that of manifests, and the patch to it. */
import { jsonPatch, type PatchOperation } from "../../core/kube/mod.ts";
import { isMap, mapAt, newMap, textAt, type ValueMap } from "../../core/value.ts";
import {
  containersOf,
  decide,
  type Injector,
  injectPod,
  labelsOf,
  metadataOf,
  nativeByNodes,
  type Pod,
  podOwner,
  specOf,
  withKey,
} from "../../inject/mod.ts";
import type { ReviewContext } from "./context.ts";
import { isOpenShift, proxyIds, withoutAssignedUser } from "./openshift.ts";
import { ReviewError } from "./review_error.ts";
import { urlSettings } from "./url_settings.ts";

/** What was done, and why. */
export interface PodOutcome {
  readonly result: "injected" | "skipped" | "unchanged";
  /** A stable id: those of the decision table of `inject`, and `already-injected`. */
  readonly reason: string;
  /** The field that decided, of the pod or of the configuration. */
  readonly field: string;
  readonly message: string;
  readonly warnings: readonly string[];
  readonly patch: readonly PatchOperation[];
}

/** More than any pod has. Some of what is done takes time by the square of the first, and each template is rendered. */
const MAX_CONTAINERS = 1000;
const MAX_TEMPLATES = 100;
/** Kubernetes refuses more itself (apimachinery, TotalAnnotationSizeLimitB), but only after the webhooks. */
const MAX_ANNOTATION_BYTES = 256 * 1024;

/**
 * Decides about a pod and injects. `namespace` is that of the request: it counts where the pod names none.
 * Errors: those of `injectPod`; a ReviewError for a pod that is none.
 */
export function injectCreatedPod(object: ValueMap, namespace: string, context: ReviewContext): PodOutcome {
  const { injector } = context;
  const pod = seen(object, namespace);
  const decision = decide(pod, { ...injector.config, byHand: false });
  if (!decision.inject) return { ...decision, result: "skipped", patch: [] };
  checkSize(pod);
  const surroundings = withSurroundings(pod, context);
  const own = isOpenShift(injector) ? withoutAssignedUser(pod) : pod;
  const injected = injectPod(own, podOwner(own, namespace), surroundings);
  const warnings = [...decision.warnings, ...injected.warnings];
  const patch = jsonPatch(object, restored(injected.pod, object));
  if (patch.length > 0) return { ...decision, result: "injected", warnings, patch };
  const message = "it is injected already";
  return { ...decision, result: "unchanged", reason: "already-injected", message, warnings, patch };
}

/** The pod as templates see it: in its namespace, and without the record of who wrote which field, which may be long. */
function seen(object: ValueMap, namespace: string): Pod {
  const metadata = object["metadata"] ?? null;
  if (metadata !== null && !isMap(metadata)) {
    throw new ReviewError("invalid-manifest", 'The pod cannot be read: "metadata" must be a mapping', {
      place: { field: "metadata" },
    });
  }
  const own = Object.assign(newMap(), metadata);
  delete own["managedFields"];
  if (textAt(own, "namespace") === "" && namespace !== "") own["namespace"] = namespace;
  return withKey(object, "metadata", own);
}

/** The injected pod with what `seen` changed as it was sent. */
function restored(pod: Pod, object: ValueMap): Pod {
  const before = metadataOf(object);
  return ["namespace", "managedFields"].reduce(
    (result, key) => withKey(result, "metadata", withKey(metadataOf(result), key, before[key])),
    pod,
  );
}

/** A pod that would hold up others is refused. */
function checkSize(pod: Pod): void {
  const annotations = mapAt(metadataOf(pod), "annotations");
  const bytes = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + String(value).length, 0);
  const count = containersOf(pod, "containers").length + containersOf(pod, "initContainers").length;
  const templates = textAt(annotations, "inject.istio.io/templates").split(",").length;
  limit(bytes, MAX_ANNOTATION_BYTES, "bytes of annotations");
  limit(count, MAX_CONTAINERS, "containers");
  limit(templates, MAX_TEMPLATES, 'templates in its annotation "inject.istio.io/templates"');
}

function limit(count: number, most: number, what: string): void {
  if (count > most) throw new ReviewError("too-large", `The pod has ${count} ${what}, more than ${most}`);
}

/** The injector with what URL, namespace and ProxyConfig resources say of this pod. */
function withSurroundings(pod: Pod, context: ReviewContext): Injector {
  const { injector, path, proxyConfigs, namespace: find, nodes } = context;
  const namespace = textAt(metadataOf(pod), "namespace");
  const modern = injector.config.form === "modern" ? proxyConfigs : undefined;
  const annotations = isOpenShift(injector)
    ? mapAt(metadataOf(find?.(namespace) ?? newMap()), "annotations")
    : newMap();
  return {
    ...injector,
    ...proxyIds(annotations, injector),
    mesh: modern?.meshFor(injector.mesh, namespace) ?? injector.mesh,
    nativeSidecars: injector.nativeSidecars ||
      nativeByNodes(injector.nodesAsked, nodes, textAt(specOf(pod), "nodeName")),
    proxyOverlay: modern?.overlayFor(namespace, labelsOf(pod)),
    proxyEnvs: { ...injector.proxyEnvs, ...urlSettings(path) },
  };
}
