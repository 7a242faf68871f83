/** Parses the output of a template of Istio 1.0 to 1.8: Istio's SidecarInjectionSpec. */
import { decode, problemTexts } from "../../kube/mod.ts";
import { isMap, mapAt, mapsAt, newMap, type Value, type ValueMap } from "../../base/value.ts";
import { InjectionError } from "../injection_error.ts";
import { withKey } from "../pod/change.ts";
import { renderedProblem } from "../render/rendered.ts";
import type { Legacy } from "./load.ts";

/** The decoded output of a template: lists to append to the pod's lists, and settings of the pod. */
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
 * Parses the output of a template. Templates of some releases write numbers and booleans in string fields; these become
 * strings. Unknown fields are dropped. Throws an InjectionError if the text is not a YAML mapping, or if it contains
 * invalid values (the error lists all of these).
 */
export function readSidecarSpec(text: string, { reader }: Legacy): SidecarSpec {
  const rendered = parseRendered(text, reader);
  const ofPod = newMap();
  for (const key of OF_POD) ofPod[key] = rendered[key] ?? null;
  const { value: spec, problems } = decode(ofPod, "PodSpec");
  if (problems.length > 0) throw failed(`renders fields that are invalid in a pod: ${problemTexts(problems)}`);
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
 * Removes `restartPolicy` from a container. Old templates set `restartPolicy: Always` on istio-init. Kubernetes ignored the
 * field then, but would make istio-init a native sidecar now. Also removes empty resources.
 */
function ofItsTime(container: ValueMap): ValueMap {
  const bare = withKey(container, "restartPolicy", undefined);
  return Object.keys(mapAt(bare, "resources")).length === 0 ? withKey(bare, "resources", undefined) : bare;
}
