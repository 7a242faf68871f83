/** Removes secrets from the parts of an archive. `explain` gives the same answers without them. */
import { Redactor, type Removed } from "../../kube/redact/mod.ts";
import { parseJson } from "../../base/json.ts";
import { REDACTED } from "../../base/redacted.ts";
import { isMap, mapAt, mapsAt, type Value, type ValueMap } from "../../base/value.ts";
import type { PartName } from "./snapshot.ts";

/** A text without secrets, and the paths of the removed secrets. */
export interface Redacted {
  readonly text: string;
  readonly removed: readonly Removed[];
}

/** Parts in which long names and numbers from the kernel and Envoy are kept, although they can look like keys. */
const NUMBERS: readonly PartName[] = ["sockets.txt", "stats.txt", "rules.iptables", "rules.ip6tables", "rules.nft"];

/** Returns a part without secrets. Reformats JSON, and redacts other parts as text. */
export function withoutSecrets(name: PartName, text: string): Redacted {
  const redactor = new Redactor();
  const value = name.endsWith(".json") ? parseJson(text) : undefined;
  if (value === undefined) {
    return { text: redactor.text(text, { isNumbers: NUMBERS.includes(name) }), removed: redactor.removed };
  }
  if (name === "pod.json" && isMap(value)) redactPod(value, redactor);
  redactAnnotations(value, redactor, []);
  return { text: `${JSON.stringify(redactor.value(value))}\n`, removed: redactor.removed };
}

/** Removes the secrets from messages of a dump, in place. Returns the same value. */
export function valueWithoutSecrets(value: Value): Value {
  const redactor = new Redactor();
  redactAnnotations(value, redactor, []);
  return redactor.value(value);
}

/** Removes secrets from a text that is not a part, such as an error message. */
export function safeText(text: string): string {
  return new Redactor().text(text);
}

/** Matches containers of the mesh. Keeps their arguments and variables, which configure the redirection of traffic. */
const MESH_CONTAINER = /^(istio-proxy|istio-init|istio-validation|enable-core-dump)$/;
/** Matches annotations that `explain` can read. Other annotations are redacted. */
const READ_ANNOTATION = /^([a-z0-9-]+\.)*(istio|kubernetes|k8s|prometheus)\.io\//;
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Redacts the annotations that `explain` does not read, in the pod and in Envoy's node metadata. */
function redactAnnotations(value: Value, redactor: Redactor, path: readonly string[]): void {
  if (typeof value !== "object" || value === null) return;
  for (const [key, held] of Object.entries(value)) {
    const inner = [...path, key];
    if (/^annotations$/i.test(key) && isMap(held)) redactForeign(held, redactor, inner);
    else redactAnnotations(held, redactor, inner);
  }
}

function redactForeign(annotations: ValueMap, redactor: Redactor, path: readonly string[]): void {
  for (const [name, text] of Object.entries(annotations)) {
    if (name !== LAST_APPLIED && READ_ANNOTATION.test(name)) continue;
    annotations[name] = redactor.all(text, ...path, name);
  }
}

/** Redacts application containers: commands, variables, and headers of probes. */
function redactPod(pod: ValueMap, redactor: Redactor): void {
  delete mapAt(pod, "metadata")["managedFields"];
  const spec = mapAt(pod, "spec");
  for (const list of ["initContainers", "containers", "ephemeralContainers"]) {
    mapsAt(spec, list).forEach((container, index) => {
      if (MESH_CONTAINER.test(String(container["name"]))) return;
      redactContainer(container, new Part(redactor, ["spec", list, String(index)]));
    });
  }
}

/** A map in the pod, with methods that redact whole fields. */
class Part {
  constructor(readonly redactor: Redactor, readonly path: readonly string[]) {}

  at(...names: readonly string[]): Part {
    return new Part(this.redactor, [...this.path, ...names]);
  }

  replace(map: ValueMap, field: string): void {
    const held = map[field];
    if (held !== undefined && held !== REDACTED) map[field] = this.redactor.all(held, ...this.path, field);
  }
}

function redactContainer(container: ValueMap, part: Part): void {
  mapsAt(container, "env").forEach((variable, index) => part.at("env", String(index)).replace(variable, "value"));
  for (const field of ["command", "args", "lifecycle"]) part.replace(container, field);
  for (const probe of ["livenessProbe", "readinessProbe", "startupProbe"]) {
    const action = mapAt(container, probe);
    part.at(probe, "exec").replace(mapAt(action, "exec"), "command");
    mapsAt(mapAt(action, "httpGet"), "httpHeaders").forEach((header, index) => {
      part.at(probe, "httpGet", "httpHeaders", String(index)).replace(header, "value");
    });
  }
}
