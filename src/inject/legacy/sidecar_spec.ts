/** What an old template renders: Istio's SidecarInjectionSpec. */
import { decode, problemTexts } from "../../core/kube/mod.ts";
import { isMap, mapAt, mapsAt, newMap, type Value, type ValueMap } from "../../core/value.ts";
import { InjectionError } from "../injection_error.ts";
import { withKey } from "../pod/pod.ts";
import { renderedProblem } from "../render/rendered.ts";
import type { Legacy } from "./load.ts";

/** Lists to append to those of the pod, and settings of the pod. Everything as Kubernetes reads it. */
export interface SidecarSpec {
  readonly rewriteAppHTTPProbe: boolean;
  readonly initContainers: readonly ValueMap[];
  readonly containers: readonly ValueMap[];
  readonly volumes: readonly ValueMap[];
  readonly imagePullSecrets: readonly ValueMap[];
  readonly dnsConfig: ValueMap | undefined;
  /** Annotations for the CNI plugin. */
  readonly podRedirectAnnot: ValueMap;
}

const OF_POD = ["initContainers", "containers", "volumes", "imagePullSecrets", "dnsConfig"];

/**
 * Reads what a template rendered. Numbers and booleans where the type has a string become strings, fields that the type
 * does not have are dropped: the templates of some releases have such.
 * Errors: an InjectionError for a text that is no YAML mapping, and for values that do not fit (all are named).
 */
export function readSidecarSpec(text: string, { reader }: Legacy): SidecarSpec {
  const rendered = parseRendered(text, reader);
  const ofPod = newMap();
  for (const key of OF_POD) ofPod[key] = rendered[key] ?? null;
  const { value: spec, problems } = decode(ofPod, "PodSpec");
  if (problems.length > 0) throw failed(`renders fields that do not fit a pod: ${problemTexts(problems)}`);
  return {
    rewriteAppHTTPProbe: rendered["rewriteAppHTTPProbe"] === true,
    initContainers: mapsAt(spec, "initContainers").map(ofItsTime),
    containers: mapsAt(spec, "containers").map(ofItsTime),
    volumes: mapsAt(spec, "volumes"),
    imagePullSecrets: mapsAt(spec, "imagePullSecrets"),
    dnsConfig: isMap(spec["dnsConfig"]) ? spec["dnsConfig"] : undefined,
    podRedirectAnnot: mapAt(rendered, "podRedirectAnnot"),
  };
}

function parseRendered(text: string, reader: Legacy["reader"]): ValueMap {
  let value: Value;
  try {
    value = reader.read(text);
  } catch (error) {
    throw failed(`does not render YAML: ${renderedProblem(text, error)}`, error);
  }
  if (isMap(value)) return value;
  throw failed('does not render a mapping with "initContainers", "containers" and the like');
}

function failed(what: string, cause?: unknown): InjectionError {
  return new InjectionError("template-failed", `The template ${what}`, { cause });
}

/**
 * Containers had no restart policy then. Templates have `restartPolicy: Always` for istio-init, which nobody read: today
 * it would make a sidecar of it that is started again and again. `resources: {}` says nothing.
 */
function ofItsTime(container: ValueMap): ValueMap {
  const bare = withKey(container, "restartPolicy", undefined);
  return Object.keys(mapAt(bare, "resources")).length === 0 ? withKey(bare, "resources", undefined) : bare;
}
