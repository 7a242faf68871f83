/** Writes the response of an AdmissionReview as JSON. Source: k8s.io/api/admission/v1 and Istio's serveInject. */
import { oneLine } from "../../base/errors.ts";
import type { PatchOperation } from "../../kube/mod.ts";
import { onceForShared } from "../../base/values/mod.ts";
import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";
import type { ReviewIdentity } from "./request.ts";

/** Whether to allow the pod, with a patch, or to deny it, with a message. */
export type Verdict =
  | { readonly allowed: true; readonly patch: readonly PatchOperation[]; readonly warnings: readonly string[] }
  | { readonly allowed: false; readonly message: string };

/** Maximum length of a warning. The API server truncates longer ones, and drops warnings after 4096 characters in total. */
const MAX_WARNING = 256;
const MAX_WARNINGS = 16;
/** Maximum length of a denial message. Kubernetes events, which quote it, have a size limit. */
const MAX_MESSAGE = 2048;

/** Returns the AdmissionReview with the response. Repeats version and UID of the request. */
export function responseText({ apiVersion, uid }: ReviewIdentity, verdict: Verdict): string {
  const type = apiVersion === undefined ? "" : `"apiVersion":${quoted(apiVersion)},"kind":"AdmissionReview",`;
  return `{${type}"response":{"uid":${quoted(uid)},${verdictText(verdict)}}}`;
}

/** Returns the fields of the response. Inserts the base64 patch directly, because it does not need JSON quoting. */
function verdictText(verdict: Verdict): string {
  if (!verdict.allowed) {
    return `"allowed":false,"status":{"metadata":{},"message":${quoted(verdict.message.slice(0, MAX_MESSAGE))}}`;
  }
  const { patch, warnings } = verdict;
  const base64 = patch.length === 0 ? "" : encoder.encode(patchText(patch)).toBase64();
  const parts = [
    '"allowed":true',
    ...base64 === "" ? [] : [`"patchType":"JSONPatch","patch":"${base64}"`],
    ...warnings.length === 0 ? [] : [`"warnings":${listText(warnings.slice(0, MAX_WARNINGS).map(warningText))}`],
  ];
  return parts.join(",");
}

const encoder = new TextEncoder();

function warningText(warning: string): string {
  return oneLine(warning).slice(0, MAX_WARNING);
}

/** Formats a patch as JSON with exact integers. */
export function patchText(patch: readonly PatchOperation[]): string {
  const operations = patch.map((operation) => {
    const value = operation.op === "remove" ? "" : `,"value":${jsonText(operation.value)}`;
    return `{"op":"${operation.op}","path":${quoted(operation.path)}${value}}`;
  });
  return `[${operations.join(",")}]`;
}

/** Formats a value as JSON. JSON.stringify cannot write bigint, and `goJson` is slower because it sorts and escapes. */
const jsonText = onceForShared((value: Value): string => {
  if (typeof value === "string") return quoted(value);
  if (isList(value)) return listText(value);
  return isMap(value) ? mapText(value) : String(value);
});

function listText(list: readonly Value[]): string {
  let text = "";
  for (const item of list) text += (text === "" ? "[" : ",") + jsonText(item);
  return text === "" ? "[]" : `${text}]`;
}

function mapText(map: ValueMap): string {
  let text = "";
  for (const key in map) text += `${text === "" ? "{" : ","}${quoted(key)}:${jsonText(map[key] ?? null)}`;
  return text === "" ? "{}" : `${text}}`;
}

/** Matches printable ASCII without quote and backslash, which needs no escaping. */
const PLAIN = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
