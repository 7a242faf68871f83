/** Makes reviews as the API server sends them, and pods as it stores them afterwards. */
import { decode } from "../../../src/kube/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../../src/base/value.ts";
import { parseDocument, splitText } from "../../../src/yaml/mod.ts";
import { configurationOf, type Injector, newInjector, workloadKind } from "../../../src/inject/mod.ts";
import { patchText } from "../../../src/webhook/review/response.ts";
import { readJson } from "../../../src/webhook/review/read_json.ts";
import type { Reviewed } from "../../../src/webhook/review/review_pod.ts";
import { applyPatch, type Operation } from "./json_patch.ts";

const encoder = new TextEncoder();

/** Loads a configuration as the webhook does: the built-in one, or a text. */
export function webhookInjector(config?: string, env: Readonly<Record<string, string>> = {}): Injector {
  const given = config === undefined ? {} : { config: { text: config, file: "config.yaml" } };
  return newInjector({
    ...configurationOf(given),
    byHand: false,
    env: (name) => env[name],
    now: () => new Date(0),
  });
}

/** Encodes a review that creates the object; `request` replaces fields in its request. */
export function reviewBytes(object: Value, request: Readonly<Record<string, Value>> = {}, version = "v1"): Uint8Array {
  return jsonBytes({
    apiVersion: `admission.k8s.io/${version}`,
    kind: "AdmissionReview",
    request: {
      uid: "7f0b2891",
      kind: { group: "", version: "v1", kind: "Pod" },
      resource: { group: "", version: "v1", resource: "pods" },
      namespace: "default",
      operation: "CREATE",
      object,
      oldObject: null,
      dryRun: false,
      ...request,
    },
  });
}

/** Encodes a value as JSON with exact integers. */
export function jsonBytes(value: Value): Uint8Array {
  const patch = patchText([{ op: "add", path: "", value }]);
  return encoder.encode(patch.slice('[{"op":"add","path":"","value":'.length, -2));
}

/** Returns the `response` in an AdmissionReview. */
export function responseOf({ body }: Pick<Reviewed, "body">): ValueMap {
  const review = readJson(encoder.encode(body));
  const response = isMap(review) ? review["response"] ?? null : null;
  if (!isMap(response)) throw new Error(`no response in ${body}`);
  return response;
}

/** Returns the patch operations in a response; `[]` if it contains no patch. */
export function patchOf(answer: Pick<Reviewed, "body">): readonly Operation[] {
  const { patch } = responseOf(answer);
  if (typeof patch !== "string") return [];
  const operations = readJson(Uint8Array.fromBase64(patch));
  return isList(operations) ? operations.filter(isMap).map(operation) : [];
}

function operation({ op = null, path = null, value }: ValueMap): Operation {
  return { op: String(op), path: String(path), ...value === undefined ? {} : { value } };
}

/** Returns the object after the response's patch. */
export function admitted(object: Value, answer: Pick<Reviewed, "body">): Value {
  return applyPatch(object, patchOf(answer));
}

/** A pod that a controller creates from a manifest, and the namespace of the pod. */
export interface MadePod {
  readonly pod: ValueMap;
  readonly namespace: string;
  readonly kind: string;
}

/** Returns the pods from all manifests in a text, including those in Lists. */
export function podsOf(text: string): readonly MadePod[] {
  return splitText(text, "").flatMap((doc) => podsIn(parseDocument(doc).value));
}

function podsIn(manifest: Value): readonly MadePod[] {
  if (!isMap(manifest)) return [];
  if (manifest["kind"] === "List") return isList(manifest["items"]) ? manifest["items"].flatMap(podsIn) : [];
  const row = workloadKind(manifest);
  if (row === undefined) return [];
  const template = row.path.reduce((at, key) => mapIn(at, key), manifest);
  const metadata = mapIn(manifest, "metadata");
  const pod = decode(row.kind === "Pod" ? template : owned(template, manifest, row.kind), "Pod").value;
  return [{ pod: { ...pod, apiVersion: "v1", kind: "Pod" }, namespace: text(metadata["namespace"]), kind: row.kind }];
}

const HASH = "5d4f8c7b9d";

/** Adds the names and labels that controllers give to pods, which are not in the templates. */
function owned(template: ValueMap, manifest: ValueMap, kind: string): ValueMap {
  const name = text(mapIn(manifest, "metadata")["name"]);
  const made = MAKERS[kind]?.(name) ?? { kind, name, labels: {} };
  const metadata = mapIn(template, "metadata");
  const controller = { apiVersion: text(manifest["apiVersion"]), kind: made.kind, name: made.name, uid: "u1" };
  return copy(template, {
    metadata: copy(metadata, {
      labels: copy(mapIn(metadata, "labels"), made.labels),
      generateName: `${made.name}-`,
      ownerReferences: [{ ...controller, controller: true, blockOwnerDeletion: true }],
    }),
  });
}

interface Maker {
  readonly kind: string;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
}

/** The controllers that create pods for each kind. */
const MAKERS: Readonly<Record<string, (name: string) => Maker>> = {
  Deployment: (name) => ({ kind: "ReplicaSet", name: `${name}-${HASH}`, labels: { "pod-template-hash": HASH } }),
  CronJob: (name) => ({ kind: "Job", name: `${name}-28437219`, labels: {} }),
  DeploymentConfig: (name) => ({
    kind: "ReplicationController",
    name: `${name}-1`,
    labels: { deploymentconfig: name },
  }),
};

const ADDED_LABELS = ["pod-template-hash", "deploymentconfig"];

/** Returns the pod without the fields that its controller added. */
export function asTemplate(pod: Value): Value {
  if (!isMap(pod)) return pod;
  const { generateName: _name, ownerReferences: _owners, labels, ...metadata } = mapIn(pod, "metadata");
  const own = Object.entries(isMap(labels ?? null) ? mapIn({ labels: labels ?? null }, "labels") : {});
  const kept = Object.fromEntries(own.filter(([key]) => !ADDED_LABELS.includes(key)));
  return { metadata: { ...metadata, labels: kept }, spec: pod["spec"] ?? null };
}

function mapIn(map: ValueMap, key: string): ValueMap {
  const value = map[key];
  return isMap(value) ? value : newMap();
}

function text(value: Value | undefined): string {
  return typeof value === "string" ? value : "";
}

function copy(map: ValueMap, set: ValueMap): ValueMap {
  return Object.assign(newMap(), map, set);
}
