/**
 * Takes secrets out of a snapshot. Envoy redacts private keys that it knows as such; a configuration may have others in
 * headers and extensions, and a pod in its environment.
 */
import { redactAll, type RedactCount, redactFields, redactText } from "../../base/redact.ts";
import { isMap, mapAt, mapsAt, type Value, type ValueMap } from "../../base/value.ts";
import type { PartName } from "./snapshot.ts";

/** A text without secrets, and how many were replaced. */
export interface Redacted {
  readonly text: string;
  readonly redacted: number;
}

/** The part without secrets. JSON keeps its form but not its blanks. A part that is no JSON is redacted as text. */
export function withoutSecrets(name: PartName, text: string): Redacted {
  const count = { redacted: 0 };
  let json = text;
  if (name.endsWith(".json")) {
    const value = parsed(text);
    if (value !== undefined) {
      if (name === "pod.json" && isMap(value)) redactPod(value, count);
      redactFields(value, count);
      json = `${JSON.stringify(value)}\n`;
    }
  }
  return { text: redactText(json, count), redacted: count.redacted };
}

function parsed(text: string): Value | undefined {
  try {
    return JSON.parse(text);
  } catch {
    // The text is no JSON.
    return undefined;
  }
}

/** Containers of the mesh: their arguments and variables say how traffic is captured. */
const MESH_CONTAINER = /^(istio-proxy|istio-init|istio-validation|enable-core-dump)$/;
const MESH_VARIABLE_TOKEN = /token|secret|passw|credential/i;
/** Annotations that explain reads; others belong to others. */
const READ_ANNOTATION =
  /(^|\.)istio\.io\/|^(proxy\.istio\.io|sidecar\.istio\.io|traffic\.sidecar\.istio\.io|status\.sidecar\.istio\.io)\/|(^|\.)(kubernetes|k8s|prometheus)\.io\//;
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Commands, variables and headers of probes of the application are its own matter. */
function redactPod(pod: ValueMap, count: RedactCount): void {
  const annotations = mapAt(mapAt(pod, "metadata"), "annotations");
  for (const key of Object.keys(annotations)) {
    if (key === LAST_APPLIED || !READ_ANNOTATION.test(key)) annotations[key] = redactAll(annotations[key] ?? "", count);
  }
  delete mapAt(pod, "metadata")["managedFields"];
  const spec = mapAt(pod, "spec");
  for (const list of ["initContainers", "containers", "ephemeralContainers"]) {
    for (const container of mapsAt(spec, list)) redactContainer(container, count);
  }
}

function redactContainer(container: ValueMap, count: RedactCount): void {
  const isOfMesh = MESH_CONTAINER.test(String(container["name"]));
  for (const variable of mapsAt(container, "env")) {
    const isSecret = !isOfMesh || MESH_VARIABLE_TOKEN.test(String(variable["name"]));
    if (isSecret && variable["value"] !== undefined) variable["value"] = redactAll(variable["value"], count);
  }
  if (!isOfMesh) redactCommands(container, count);
}

function redactCommands(container: ValueMap, count: RedactCount): void {
  for (const key of ["command", "args", "lifecycle"]) {
    const held = container[key];
    if (held !== undefined) container[key] = redactAll(held, count);
  }
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const action = mapAt(container, probe);
    for (const header of mapsAt(mapAt(action, "httpGet"), "httpHeaders")) {
      header["value"] = redactAll(header["value"] ?? "", count);
    }
    const exec = mapAt(action, "exec");
    if (exec["command"] !== undefined) exec["command"] = redactAll(exec["command"], count);
  }
}
