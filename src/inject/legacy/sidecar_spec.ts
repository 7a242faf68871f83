/** The output of an old template: Istio's SidecarInjectionSpec. */
import { decode, problemTexts } from "../../kube/mod.ts";
import { isMap, mapAt, mapsAt, newMap, type Value, type ValueMap } from "../../base/value.ts";
import { InjectionError } from "../injection_error.ts";
import { withKey } from "../pod/change.ts";
import { renderedProblem } from "../render/rendered.ts";
import type { Legacy } from "./load.ts";

/** Lists to append to the pod's lists, and settings of the pod, as Kubernetes decodes them. */
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
 * Reads the output of a template. Templates of some releases have numbers and booleans in string fields, which become
 * strings, and unknown fields, which are dropped. Errors: an InjectionError for a text that is not a YAML mapping, or
 * with all invalid values.
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
 * Removes the restart policy of a container: templates have `restartPolicy: Always` for istio-init, which was ignored then
 * and today would make it a native sidecar. Also removes empty resources.
 */
function ofItsTime(container: ValueMap): ValueMap {
  const bare = withKey(container, "restartPolicy", undefined);
  return Object.keys(mapAt(bare, "resources")).length === 0 ? withKey(bare, "resources", undefined) : bare;
}
