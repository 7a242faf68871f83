/** Injects one pod from a manifest or an admission request. */
import { InjectionError } from "./injection_error.ts";
import { decode, fits, problemTexts } from "../kube/mod.ts";
import { type Era, validateAnnotations } from "../istio/mod.ts";
import { mapsAt, type ValueMap } from "../base/value.ts";
import type { ModernConfig } from "./config/config.ts";
import { KNOWS_NAMES, seenByTemplates } from "./render/data.ts";
import type { Injector, LoadedConfig } from "./injector.ts";
import { injectLegacy } from "./legacy/inject.ts";
import { mapContainers, withKey } from "./pod/change.ts";
import { meshForPod } from "./pod/mesh.ts";
import { nativeForPod } from "./decision/native.ts";
import { overlay, withoutEmptyLists } from "./merge/overlay.ts";
import { applyOverrides, keptOverrides, userProxy } from "./merge/overrides.ts";
import { endsByItself } from "./pod/kinds.ts";
import { annotationsOf, containersOf, type Pod, specOf } from "./pod/pod.ts";
import { proxyEnvs } from "./postprocess/cluster.ts";
import { postprocess, statusPort } from "./postprocess/mod.ts";
import { followProxyUser } from "./merge/proxy_user.ts";
import { renderTemplates, selectTemplates } from "./render/render.ts";
import { readStatus } from "./pod/status.ts";
import { mergeBase, strip } from "./merge/strip.ts";
import { withoutNulls } from "./merge/without_nulls.ts";
import { earlierOwner, type Owner } from "./pod/workload.ts";

export interface InjectedPod {
  readonly pod: Pod;
  readonly templates: readonly string[];
}

/**
 * Injects a pod. Does not modify `pod`; the result shares unchanged parts with it.
 * Throws a MeshError if annotations are invalid (its message lists all of them), a template fails, or the result is
 * invalid. The error's field path starts at the pod.
 */
export function injectPod(pod: Pod, owner: Owner, given: Injector): InjectedPod {
  const injector = given.nativeJobs && endsByItself(owner.kind, pod) ? { ...given, nativeSidecars: true } : given;
  const { config } = injector;
  return config.form === "legacy" ? injectOld(pod, owner, injector, config) : injectNew(pod, owner, injector, config);
}

/**
 * Injects the pod of a workload with several injectors in turn. Each injector gets the previous injector's result.
 * Throws the errors of `injectPod`, and an InjectionError if the pod has no containers.
 */
export function injectInTurn(pod: Pod, owner: Owner, injectors: readonly Injector[]): InjectedPod {
  if (containersOf(pod, "containers").length === 0) {
    throw new InjectionError("no-containers", `The ${owner.kind} has no containers`, {
      place: { field: "spec.containers" },
    });
  }
  const none: InjectedPod = { pod, templates: [] };
  return injectors.reduce((before, injector) => injectPod(before.pod, owner, injector), none);
}

type OldConfig = Extract<LoadedConfig, { readonly form: "legacy" }>;

function injectOld(pod: Pod, owner: Owner, injector: Injector, config: OldConfig): InjectedPod {
  const { legacy, injectedAnnotations } = config;
  const typed = typedPod(pod);
  checkAnnotations(typed, legacy.era);
  const mesh = legacy.era === "1.8" ? meshForPod(pod, injector) : injector.mesh;
  const result = injectLegacy({ ...injector, pod, typed, owner, legacy, mesh, injectedAnnotations });
  checkResult(result.pod, result.templates, "converted");
  return result;
}

function injectNew(pod: Pod, owner: Owner, injector: Injector, config: ModernConfig): InjectedPod {
  const typed = typedPod(pod);
  checkAnnotations(typed, "current");
  const mesh = meshForPod(pod, injector);
  const earlier = { status: readStatus(pod), kept: keptOverrides(pod) };
  const stripped = strip(typed, earlier, String(statusPort(mesh)));
  const templates = selectTemplates(stripped, config);
  const seen = seenByTemplates(stripped, injector.minor < KNOWS_NAMES ? earlierOwner(owner, pod) : owner);
  const rendered = renderTemplates(config, templates, { ...injector, seen, mesh });
  const patches = injector.minor < KNOWS_RESTARTS ? rendered.map(withoutRestarts) : rendered;
  if (patches.length === 0) {
    const names = templates.map((name) => `"${name}"`).join(", ");
    throw new InjectionError("template-failed", `The rendered templates are empty for this pod: ${names}`);
  }
  const reinjected = earlier.status !== undefined;
  const native = nativeForPod(pod, injector.nativeSidecars);
  const overlaid = overlay(mergeBase(pod, earlier), patches, { native, reinjected });
  const source = { original: pod, ...earlier };
  const overridden = applyOverrides(overlaid.pod, overlaid.templatePod, source);
  const followed = injector.minor < FOLLOWS_USER ? overridden : followProxyUser(overridden, userProxy(source), mesh);
  const done = postprocess(followed, {
    ...injector,
    templatePod: overlaid.templatePod,
    mesh,
    proxyEnvs: proxyEnvs(pod, injector.values, injector.proxyEnvs),
    injectedAnnotations: config.injectedAnnotations,
    reinjected,
  });
  const result = withoutNulls(withoutEmptyLists(done, pod), pod);
  checkResult(result, templates, "strict");
  return { pod: result, templates };
}

/** Minor version of the first release that passes the proxy's UID in the pod to istio-init. */
const FOLLOWS_USER = 20;

/** Minor version of the first release whose Kubernetes API library has `restartPolicy` for containers. */
const KNOWS_RESTARTS = 19;

/**
 * Removes `restartPolicy` from init containers. Releases before 1.19 ignore this field of their templates, but current
 * clusters would make the container a native sidecar.
 */
function withoutRestarts(patch: ValueMap): ValueMap {
  return mapContainers(patch, "initContainers", (container) => withKey(container, "restartPolicy", undefined));
}

/** Decodes the pod for templates, as Kubernetes does. */
function typedPod(pod: Pod): Pod {
  const { value, problems } = decode(pod, "Pod");
  const [first] = problems;
  if (first !== undefined) {
    const message = `The pod cannot be read: ${problemTexts(problems)}`;
    throw new InjectionError("invalid-manifest", message, { place: { field: first.field } });
  }
  const missing = missingNames(value);
  const [field] = missing;
  if (field === undefined) return value;
  const fields = missing.map((each) => `"${each}"`).join(", ");
  throw new InjectionError("invalid-manifest", `Names are missing: ${fields}`, { place: { field } });
}

/** Lists of a pod whose items are merged by name. */
const NAMED = ["initContainers", "containers", "volumes"] as const;

/** Field paths of missing names, such as `spec.containers[0].name`. */
export function missingNames(pod: Pod): readonly string[] {
  return NAMED.flatMap((list) =>
    mapsAt(specOf(pod), list).flatMap(({ name = "" }, index) => name === "" ? [`spec.${list}[${index}].name`] : [])
  );
}

function checkAnnotations(typed: Pod, era: Era): void {
  const entries = Object.entries(annotationsOf(typed)).map(([name, value]) => [name, String(value)]);
  const problems = validateAnnotations(Object.fromEntries(entries), era);
  const [first] = problems;
  if (first === undefined) return;
  throw new InjectionError("invalid-annotation", problems.map(({ message }) => message).join("; "), {
    place: { field: `metadata.annotations["${first.annotation}"]` },
  });
}

/**
 * Checks the injected pod, because a template can render any text. With `strict`, a number in a string field is an error,
 * because the API server would reject the pod. Templates of Istio 1.0 to 1.8 use `converted`.
 */
function checkResult(pod: Pod, templates: readonly string[], texts: "converted" | "strict"): void {
  if (fits(pod, "Pod")) return;
  const { problems } = decode(pod, "Pod", texts);
  const [first] = problems;
  if (first === undefined) return;
  throw new InjectionError("invalid-result", `The injected pod cannot be read: ${problemTexts(problems)}`, {
    hint: `check the values and these templates: ${templates.map((name) => `"${name}"`).join(", ")}`,
  });
}
