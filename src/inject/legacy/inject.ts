/** Injects a pod with a configuration of Istio 1.0 to 1.8: appends the rendered lists, and sets a few fields. */
import { messageOf } from "../../base/errors.ts";
import { goJson, OrderedFields } from "../../golang/go_json.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { mapAt, mapsAt, textAt, valueAt, type ValueMap } from "../../base/value.ts";
import { InjectionError } from "../injection_error.ts";
import { withAnnotations, withKey, withSpecKey } from "../pod/change.ts";
import { type Pod, PROXY, specOf, VALIDATION } from "../pod/pod.ts";
import { INJECTED_LISTS, listedNames } from "../pod/status.ts";
import { labelNetwork, proxyEnvs, setProxyEnvs } from "../postprocess/cluster.ts";
import { holds, type PostContext, statusPort } from "../postprocess/mod.ts";
import type { TemplateInput } from "../render/data.ts";
import { mergesMetrics, scrapeAnnotations } from "../postprocess/prometheus.ts";
import type { Owner } from "../pod/workload.ts";
import { type Bare, withoutEarlier } from "./earlier.ts";
import { has } from "./features.ts";
import { addLabels } from "./labels.ts";
import type { Legacy } from "./load.ts";
import { equip, probePort, redirected } from "./proxy.ts";
import { readSidecarSpec, type SidecarSpec } from "./sidecar_spec.ts";
import { legacyTemplateData } from "./template_data.ts";

/** `mesh` includes the pod's `proxy.istio.io/config` if the release reads this annotation. */
export interface LegacyInput
  extends
    Pick<TemplateInput, "mesh" | "values" | "revision" | "isLate">,
    Pick<PostContext, "env" | "proxyEnvs" | "injectedAnnotations"> {
  /** The pod as the user wrote it. */
  readonly pod: Pod;
  /** The pod after decoding, for the template. */
  readonly typed: Pod;
  readonly owner: Owner;
  readonly legacy: Legacy;
}

interface Context extends LegacyInput {
  readonly minor: number;
  readonly bare: Bare;
  /** The agent's port, if probes of the pod are rewritten. */
  readonly port: number | undefined;
  /** The rendered lists, after the proxy is adapted to the pod. */
  readonly spec: SidecarSpec;
}

const PROXY_GROUP = 1337;

/**
 * Injects a pod the way the configuration's release did.
 * Throws an InjectionError if the template fails or its output is not part of a pod.
 */
export function injectLegacy(input: LegacyInput) {
  const agent = String(statusPort(input.mesh));
  const { minor } = input.legacy.release;
  const bare = withoutEarlier(input.pod, agent);
  const rendered = render(withoutEarlier(input.typed, agent).pod, input);
  const adapted = { ...input, minor, bare, port: probePort(bare.pod, rendered, minor, input.mesh) };
  return { pod: changed({ ...adapted, spec: equip(rendered, adapted) }), templates: ["template"] };
}

function changed(context: Context): Pod {
  const { minor, bare, port, spec, mesh, values, revision, owner } = context;
  let pod = port === undefined ? bare.pod : redirected(bare.pod, port, minor);
  pod = append(pod, spec, has(minor, "hold") && holds(mesh, values));
  if (has(minor, "cluster")) {
    const envs = proxyEnvs(bare.pod, values, context.proxyEnvs);
    pod = labelNetwork(setProxyEnvs(pod, envs, true), envs);
  }
  if (spec.dnsConfig !== undefined) pod = withSpecKey(pod, "dnsConfig", spec.dnsConfig);
  if (setsFsGroup(context)) {
    pod = withSpecKey(pod, "securityContext", withKey(mapAt(specOf(pod), "securityContext"), "fsGroup", PROXY_GROUP));
  }
  pod = withAnnotations(pod, annotationsFor(context));
  const workload = owner.name || textAt(mapAt(bare.pod, "metadata"), "name");
  return addLabels(pod, { minor, revision, workload });
}

function render(pod: Pod, { owner, legacy, mesh, values, isLate }: LegacyInput): SidecarSpec {
  const data = legacyTemplateData({ pod, owner, mesh, values, minor: legacy.release.minor });
  legacy.scope.data = data;
  let text: string;
  try {
    text = legacy.template.render(data, { limits: { isLate } });
  } catch (error) {
    throw new InjectionError("template-failed", `The template failed: ${messageOf(error)}`, { cause: error });
  }
  return readSidecarSpec(text, legacy);
}

/**
 * Appends containers, volumes and secrets to the pod's lists. Two containers are exceptions and go first:
 * istio-validation, and the proxy if `hold` is set.
 */
function append(pod: Pod, spec: SidecarSpec, hold: boolean): Pod {
  const front = hold ? [VALIDATION, PROXY] : [VALIDATION];
  return INJECTED_LISTS.reduce((result, list) => {
    const own = mapsAt(specOf(result), list);
    const all = list === "initContainers" || list === "containers"
      ? inOrder(own, spec[list], front)
      : [...own, ...spec[list]];
    return spec[list].length === 0 ? result : withSpecKey(result, list, all);
  }, pod);
}

function inOrder(own: readonly ValueMap[], added: readonly ValueMap[], front: readonly string[]): ValueMap[] {
  return added.reduce<ValueMap[]>(
    (all, container) => front.includes(String(container["name"])) ? [container, ...all] : [...all, container],
    [...own],
  );
}

/** Whether to set `fsGroup`. Before Kubernetes 1.19, only root and the pod's group could read tokens. */
function setsFsGroup({ minor, mesh, env }: Context): boolean {
  if (has(minor, "fsGroup")) return env("ENABLE_LEGACY_FSGROUP_INJECTION") !== "false";
  const { sdsUdsPath, enableSdsTokenMount } = mesh.data;
  if (typeof sdsUdsPath !== "string" || sdsUdsPath === "") return false;
  return has(minor, "sdsByPath") || enableSdsTokenMount === true;
}

function annotationsFor(context: Context): Record<string, string> {
  const { minor, mesh, bare, spec, legacy, injectedAnnotations } = context;
  const merges = has(minor, "prometheusMerge") && mergesMetrics(bare.pod, mesh);
  return {
    ...(merges ? scrapeAnnotations(String(statusPort(mesh))) : {}),
    ...(informsCni(context) ? filled(spec.podRedirectAnnot) : {}),
    [ANNOTATION.status]: statusText(spec, legacy.version),
    ...injectedAnnotations,
  };
}

/** Whether to write `podRedirectAnnot`, which the CNI plugin reads. Istio 1.8 requires that the plugin is enabled. */
function informsCni({ minor, values }: Context): boolean {
  if (has(minor, "podAnnotationsOfCni")) return valueAt(values, "istio_cni", "enabled") === true;
  return has(minor, "podAnnotations");
}

function filled(annotations: ValueMap): Record<string, string> {
  return Object.fromEntries(
    Object.entries(annotations).filter((entry): entry is [string, string] =>
      typeof entry[1] === "string" && entry[1] !== ""
    ),
  );
}

/** The value of the status annotation: the template's version, and the names of the injected items. */
function statusText(spec: SidecarSpec, version: string): string {
  return goJson(new OrderedFields([["version", version], ...listedNames((list) => spec[list])]));
}
