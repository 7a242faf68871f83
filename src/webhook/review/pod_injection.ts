/** Injects a new pod as `inject` does, and computes the JSON patch. */
import type { KubeObject } from "../../kube/client/api.ts";
import { jsonPatch, type PatchOperation } from "../../kube/mod.ts";
import { isMap, newMap, textAt, type ValueMap } from "../../base/value.ts";
import {
  allContainers,
  annotationsOf,
  decide,
  findingsOf,
  findingText,
  type Injector,
  injectPod,
  isOpenShift,
  labelsOf,
  metadataOf,
  nativeByNodes,
  type NativeNodes,
  type Pod,
  podOwner,
  proxyIds,
  specOf,
  urlSettings,
  withKey,
} from "../../inject/mod.ts";
import type { ProxyConfigs } from "./proxy_configs.ts";
import { withoutAssignedUser } from "./openshift.ts";
import { ReviewError } from "./request.ts";

export interface ReviewContext {
  /** The injector. Load it with `byHand: false`. */
  readonly injector: Injector;
  /** Path of the request's URL, still percent-encoded. */
  readonly path: string;
  /** The ProxyConfig resources of the cluster, if known. */
  readonly proxyConfigs?: ProxyConfigs | undefined;
  /** Returns a namespace by name, if known. On OpenShift, its annotations contain the UID range of its pods. */
  readonly namespace?: ((name: string) => KubeObject | undefined) | undefined;
  /** Native-sidecar support of the cluster's nodes, if known. */
  readonly nodes?: NativeNodes | undefined;
  /** Returns whether the review has exceeded its time limit. If so, rendering the templates fails. */
  readonly isLate?: (() => boolean) | undefined;
}

/** The result of a review, with the reason. */
export interface PodOutcome {
  readonly result: "injected" | "skipped" | "unchanged";
  /** A stable ID from the decision table of `inject`, or `already-injected`. */
  readonly reason: string;
  /** The deciding field of the pod or the configuration. */
  readonly field: string;
  readonly message: string;
  readonly warnings: readonly string[];
  readonly patch: readonly PatchOperation[];
}

/** Limits that no real pod reaches. Rendering time grows with the templates, and quadratically with the containers. */
const MAX_CONTAINERS = 1000;
const MAX_TEMPLATES = 100;
const MAX_MERGED = 10_000;
/** Limit for all annotations, as in Kubernetes (apimachinery, TotalAnnotationSizeLimitB), which checks it after webhooks. */
const MAX_ANNOTATION_BYTES = 256 * 1024;

/**
 * Decides whether to inject a pod, and injects it. `namespace`: the request's namespace, for a pod that does not set one.
 * Throws the errors of `injectPod`, and a `ReviewError` for an invalid or too large pod.
 */
export function injectCreatedPod(object: ValueMap, namespace: string, context: ReviewContext): PodOutcome {
  const { injector } = context;
  const pod = templatePod(object, namespace);
  const decision = decide(pod, { ...injector.config, byHand: false });
  const warningsOf = (kind: string, own: Pod, injected: Pod | undefined) => {
    const findings = findingsOf({ manifest: object, kind, path: [], pod: own, injected, era: "current" });
    return [...decision.warnings, ...findings.filter(({ severity }) => severity !== "note").map(findingText)];
  };
  if (!decision.inject) {
    return { ...decision, result: "skipped", warnings: warningsOf("Pod", pod, undefined), patch: [] };
  }
  checkSize(pod);
  const podInjector = injectorFor(pod, context);
  const own = isOpenShift(injector) ? withoutAssignedUser(pod) : pod;
  const owner = podOwner(own, namespace);
  const injected = injectPod(own, owner, podInjector).pod;
  const warnings = warningsOf(owner.kind, own, injected);
  const patch = jsonPatch(object, restored(injected, object));
  if (patch.length > 0) return { ...decision, result: "injected", warnings, patch };
  const message = "already injected";
  return { ...decision, result: "unchanged", reason: "already-injected", message, warnings, patch };
}

/** Returns the pod for templates: with its namespace, and without `managedFields`, which may be large. */
function templatePod(object: ValueMap, namespace: string): Pod {
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

/** Restores the original `namespace` and `managedFields` of an injected pod, so that the patch does not change these. */
function restored(pod: Pod, object: ValueMap): Pod {
  const before = metadataOf(object);
  return ["namespace", "managedFields"].reduce(
    (result, key) => withKey(result, "metadata", withKey(metadataOf(result), key, before[key])),
    pod,
  );
}

/** Throws if a pod is so large that its review would delay other reviews. */
function checkSize(pod: Pod): void {
  const annotations = annotationsOf(pod);
  const bytes = Object.entries(annotations).reduce((sum, [key, value]) => sum + key.length + String(value).length, 0);
  const count = allContainers(pod).length;
  const templates = textAt(annotations, "inject.istio.io/templates").split(",").length;
  limit(bytes, MAX_ANNOTATION_BYTES, "bytes of annotations");
  limit(count, MAX_CONTAINERS, "containers");
  limit(templates, MAX_TEMPLATES, 'templates in its annotation "inject.istio.io/templates"');
  limit(count * templates, MAX_MERGED, `containers times templates (${count} times ${templates})`);
}

function limit(count: number, most: number, what: string): void {
  if (count > most) throw new ReviewError("too-large", `The pod has ${count} ${what}, but at most ${most} are allowed`);
}

/**
 * Adapts the injector to a pod, based on the URL of the request, the pod's namespace, the nodes, and ProxyConfig
 * resources.
 */
function injectorFor(pod: Pod, context: ReviewContext): Injector {
  const { injector, path, proxyConfigs, namespace: find, nodes, isLate } = context;
  const namespace = textAt(metadataOf(pod), "namespace");
  const modern = injector.config.form === "modern" ? proxyConfigs : undefined;
  const annotations = isOpenShift(injector) ? annotationsOf({ ...find?.(namespace) }) : {};
  return {
    ...injector,
    isLate,
    ...proxyIds(annotations, injector),
    mesh: modern?.meshFor(injector.mesh, namespace) ?? injector.mesh,
    nativeSidecars: injector.nativeSidecars ||
      nativeByNodes(injector.nodesAsked, nodes, textAt(specOf(pod), "nodeName")),
    proxyOverlay: modern?.overlayFor(namespace, labelsOf(pod)),
    proxyEnvs: { ...injector.proxyEnvs, ...urlSettings(path) },
  };
}
