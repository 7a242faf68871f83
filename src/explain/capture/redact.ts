/**
 * Takes secrets out of a capture. Envoy redacts private keys that it knows as such; a configuration may have others in
 * headers and extensions, and a pod in its environment.
 */
import { isMap, mapAt, mapsAt, type Value, type ValueMap } from "../../core/value.ts";
import type { PartName } from "./capture.ts";

/** What stands in place of a secret: Envoy's own word. */
export const REDACTED = "[redacted]";

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

interface Count {
  redacted: number;
}

function parsed(text: string): Value | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Private keys, tokens of the form JWT, and credentials of the header Authorization, wherever they are. */
const SECRET_TEXTS: readonly RegExp[] = [
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|$)/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /(?<=\b(?:Bearer|Basic) )[A-Za-z0-9._~+/=-]{8,}/gi,
];
/** Base64 of `-----BEGIN `, and what follows. */
const ENCODED_PEM = /LS0tLS1CRUdJTi[A-Za-z0-9+/=]+/g;
/** Of the start of a PEM file, to see what it is. */
const PEM_START = 4096;

function redactText(text: string, count: Count): string {
  let result = text;
  for (const pattern of SECRET_TEXTS) {
    result = result.replaceAll(pattern, () => {
      count.redacted++;
      return REDACTED;
    });
  }
  return result.replaceAll(ENCODED_PEM, (encoded) => {
    if (!holdsPrivateKey(encoded)) return encoded;
    count.redacted++;
    return REDACTED;
  });
}

function holdsPrivateKey(encoded: string): boolean {
  for (let at = 0; at < encoded.length; at += PEM_START / 2) {
    const piece = encoded.slice(at, at + PEM_START).replace(/=+$/, "");
    if (atob(piece.slice(0, piece.length - piece.length % 4)).includes("PRIVATE KEY")) return true;
  }
  return false;
}

/** Names of fields whose whole content is secret, in the spellings of protobuf and of JSON. */
const SECRET_FIELD =
  /^(private_?key|password|passphrase|client_?secret|secret_?(access_?)?key|access_?token|refresh_?token|id_?token|api_?key|session_?ticket_?keys|session_?token|generic_?secret|hmac_?secret|token_?secret|credential|users)$/i;
/** Names of headers and variables whose value is secret. */
const SECRET_NAME = /authorization|cookie|token|secret|passw|credential|api-?_?key|private-?_?key|access-?_?key/i;
/** Paths of files and references, which are no secrets. */
const REFERENCE = /^(filename|path|name|sds_config|watched_directory|trusted_ca)$/i;

/** Fields beside a secret name. What routes match in a cookie decides where a request goes, and is no session. */
const VALUES = ["value", "raw_value"];
const MATCHES = ["exact_match", "string_match"];

/** Replaces secret fields, and values that stand beside a secret name: `{"key": "authorization", "value": "..."}`. */
function redactFields(value: Value, count: Count): void {
  if (Array.isArray(value)) {
    for (const item of value) redactFields(item, count);
    return;
  }
  if (!isMap(value)) return;
  for (const [key, held] of Object.entries(value)) {
    if (SECRET_FIELD.test(key)) value[key] = redactAll(held, count);
    else redactFields(held, count);
  }
  redactNamed(value, count);
}

function redactNamed(value: ValueMap, count: Count): void {
  const name = value["key"] ?? value["name"] ?? value["header_name"];
  if (typeof name !== "string" || !SECRET_NAME.test(name)) return;
  for (const key of SECRET_NAME.test(name.replace(/cookie/i, "")) ? [...VALUES, ...MATCHES] : VALUES) {
    const held = value[key];
    if (held !== undefined) value[key] = redactAll(held, count);
  }
}

/** The same value with every text in it replaced, but names of files. */
function redactAll(value: Value, count: Count): Value {
  if (Array.isArray(value)) return value.map((item) => redactAll(item, count));
  if (isMap(value)) {
    for (const [key, held] of Object.entries(value)) if (!REFERENCE.test(key)) value[key] = redactAll(held, count);
    return value;
  }
  if (typeof value !== "string" || value === "" || value === REDACTED) return value;
  count.redacted++;
  return REDACTED;
}

/** Containers of the mesh: their arguments and variables tell how traffic is captured. */
const MESH_CONTAINER = /^(istio-proxy|istio-init|istio-validation|enable-core-dump)$/;
const MESH_VARIABLE_TOKEN = /token|secret|passw|credential/i;
/** Annotations that explain reads; others belong to others. */
const READ_ANNOTATION =
  /(^|\.)istio\.io\/|^(proxy\.istio\.io|sidecar\.istio\.io|traffic\.sidecar\.istio\.io|status\.sidecar\.istio\.io)\/|(^|\.)(kubernetes|k8s|prometheus)\.io\//;
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Commands, variables and headers of probes of the application are its own matter. */
function redactPod(pod: ValueMap, count: Count): void {
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

function redactContainer(container: ValueMap, count: Count): void {
  const isOfMesh = MESH_CONTAINER.test(String(container["name"]));
  for (const variable of mapsAt(container, "env")) {
    const isSecret = !isOfMesh || MESH_VARIABLE_TOKEN.test(String(variable["name"]));
    if (isSecret && variable["value"] !== undefined) variable["value"] = redactAll(variable["value"], count);
  }
  if (!isOfMesh) redactCommands(container, count);
}

function redactCommands(container: ValueMap, count: Count): void {
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
