/** The answer to an AdmissionReview, as text. Source: k8s.io/api/admission/v1, and what Istio's serveInject writes. */
import { oneLine } from "../../core/errors.ts";
import type { PatchOperation } from "../../core/kube/mod.ts";
import { isList, isMap, type Value, type ValueMap } from "../../core/value.ts";
import type { ReviewIdentity } from "./request.ts";

/** What is answered. */
export type Verdict =
  | { readonly allowed: true; readonly patch: readonly PatchOperation[]; readonly warnings: readonly string[] }
  | { readonly allowed: false; readonly message: string };

/** The API server cuts longer warnings and drops those beyond 4096 characters in all. */
const MAX_WARNING = 256;
const MAX_WARNINGS = 16;
/** A message is for people to read; etcd and events would not take a long one. */
const MAX_MESSAGE = 2048;

/** The review with its response: the version and the uid that were sent, none where they could not be read. */
export function responseText({ apiVersion, uid }: ReviewIdentity, verdict: Verdict): string {
  const type = apiVersion === undefined ? "" : `"apiVersion":${quoted(apiVersion)},"kind":"AdmissionReview",`;
  return `{${type}"response":{"uid":${quoted(uid)},${verdictText(verdict)}}}`;
}

/** Base64 needs no quoting: JSON.stringify would look at each of its characters. */
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

/** A patch as JSON, integers exact. */
export function patchText(patch: readonly PatchOperation[]): string {
  const operations = patch.map((operation) => {
    const value = operation.op === "remove" ? "" : `,"value":${jsonText(operation.value)}`;
    return `{"op":"${operation.op}","path":${quoted(operation.path)}${value}}`;
  });
  return `[${operations.join(",")}]`;
}

/** JSON.stringify knows no bigint, and Go's JSON sorts and escapes what need not be: half of the time of a patch. */
function jsonText(value: Value): string {
  if (typeof value === "string") return quoted(value);
  if (isList(value)) return listText(value);
  return isMap(value) ? mapText(value) : String(value);
}

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

/** Printable ASCII but the quote and the backslash. */
const PLAIN = /^[ !#-[\]-~]*$/;

function quoted(text: string): string {
  return PLAIN.test(text) ? `"${text}"` : JSON.stringify(text);
}
