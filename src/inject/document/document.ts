/** Changes the pods in one document. The text stays byte-identical where nothing changes. */
import { parseJson } from "../../base/json.ts";
import { MeshError } from "../../base/errors.ts";
import { fieldKeys } from "../../base/field_path.ts";
import { goJson } from "../../golang/go_json.ts";
import { isList, isMap, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { editDocument, type ParsedDocument, toYaml } from "../../yaml/mod.ts";
import { InjectionError } from "../injection_error.ts";
import { withKey } from "../pod/change.ts";
import { metadataOf } from "../pod/pod.ts";
import { type WorkloadKind, workloadKinds } from "../pod/kinds.ts";
import { notInjected } from "../pod/other_kinds.ts";
import type { Described, InputObject } from "../rules/input_rules.ts";
import type { Level } from "../rules/pod_security.ts";
import { type Finding, findingText } from "../rules/rule.ts";
import { type RulesOff, rulesOffBy } from "../rules/rules.ts";
import type { Misread } from "./conform.ts";
import { workloadPatch } from "./patch.ts";
import type { ReportEntry } from "./report.ts";
import { withStringKeys } from "./string_keys.ts";

export interface DocumentOptions {
  /** Default namespace of resources. A resource with another namespace fails. */
  readonly namespace?: string | undefined;
  readonly output: "yaml" | "json";
  /** Write a kustomize patch instead of each changed resource. Omit unchanged resources. */
  readonly patch?: boolean | undefined;
  /** Called before a document is changed, to load data that the change needs. An error stops the whole stream. */
  readonly prepare?: ((value: Value) => Promise<void>) | undefined;
  /** The user's kinds, with the path of the pod template in each. They override the built-in kinds. */
  readonly templatePaths?: readonly WorkloadKind[] | undefined;
  /** The Pod Security level that injected pods must meet. */
  readonly fit?: Level | undefined;
  readonly rulesOff?: RulesOff | undefined;
  /** Called with every resource that did not fail, for rules that compare several resources. */
  readonly seen?: ((object: InputObject) => void) | undefined;
}

export interface DocumentResult {
  /** The new text; `undefined` if any part failed, because a document must not be injected in part. */
  readonly text: string | undefined;
  /** The items of a List, each as JSON, so that the output can be one List. */
  readonly items?: () => readonly string[];
  /** One entry for each resource. A List gives one entry for each item. */
  readonly entries: readonly ReportEntry[];
}

/**
 * Changes a workload's pod, which is at the path in `row`. Returns the same manifest if nothing changes.
 * Throws a MeshError whose field path starts at the manifest.
 */
export type Change = (manifest: ValueMap, row: WorkloadKind, options: DocumentOptions) => Outcome;

/** Changes the workloads of a document. Failures become entries, not errors. */
export function changeDocument(parsed: ParsedDocument, change: Change, options: DocumentOptions): DocumentResult {
  const run: Run = { parsed, change, options, entries: [], patches: [] };
  const isEmpty = options.output === "json" || options.patch === true;
  if (parsed.value === null) return { text: isEmpty ? "" : parsed.doc.text, entries: [] };
  const next = changeValue(parsed.value, [], run);
  if (run.entries.some(({ result }) => result === "failed")) {
    return { text: undefined, entries: skippedItems(run.entries) };
  }
  if (options.patch === true) return patchResult(run);
  const text = textOf(parsed, next, run);
  const items = itemsOf(next);
  if (options.output === "yaml" || items === undefined) return { text, entries: run.entries };
  return { text, items: () => items.map(jsonText), entries: run.entries };
}

/** One object of a custom list, such as kustomize's ResourceList, with its position in the input. */
export type ListedObject = Pick<ParsedDocument, "value" | "doc" | "place" | "written">;

/** Changes the workloads of one object. Returns the new value and an entry for each resource. Failures become entries. */
export function changeObject(
  object: ListedObject,
  change: Change,
  options: DocumentOptions,
): { readonly next: Value; readonly entries: readonly ReportEntry[] } {
  const run: Run = { parsed: object, change, options, entries: [], patches: [] };
  return { next: changeValue(object.value, [], run), entries: run.entries };
}

function textOf(parsed: ParsedDocument, next: Value, { options: { output }, entries }: Run): string {
  // Injection does not write comments, so comments next to removed fields are the user's: keep them.
  const isUndone = entries.some(({ result }) => result === "uninjected");
  if (output === "yaml") {
    const options = { keepsComments: isUndone, restoresAliases: isUndone };
    return next === parsed.value ? parsed.doc.text : editDocument(withStringKeys(parsed), next, options);
  }
  if (next === parsed.value && isJson(parsed.doc.text)) return parsed.doc.text;
  return jsonText(next) + "\n";
}

function patchResult({ patches, options: { output }, entries }: Run): DocumentResult {
  const items = () => patches.map(jsonText);
  if (output === "yaml") return { text: patches.map((patch) => toYaml(patch)).join("---\n"), items, entries };
  const [first, ...more] = patches;
  const list = more.length === 0 ? first : { apiVersion: "v1", kind: "List", items: [...patches] };
  return { text: list === undefined ? "" : jsonText(list) + "\n", items, entries };
}

function jsonText(value: Value): string {
  return goJson(value, { indent: "    ", escapeHtml: false });
}

/** Whether the text is a JSON object. The first character is not enough: a YAML flow mapping starts with `{` too. */
function isJson(text: string): boolean {
  return text.trimStart().startsWith("{") && parseJson(text) !== undefined;
}

function itemsOf(value: Value): readonly Value[] | undefined {
  if (!isMap(value) || value["kind"] !== "List") return undefined;
  const items = value["items"] ?? null;
  return isList(items) ? items : [];
}

/** Marks all items as skipped if one item of their List failed, because the List is then not written. */
function skippedItems(entries: readonly ReportEntry[]): readonly ReportEntry[] {
  return entries.map((entry) =>
    entry.result === "failed" ? entry : {
      ...entry,
      result: "skipped",
      reason: "list-item-failed",
      field: "",
      message: "another item of the same List failed",
    }
  );
}

interface Run {
  readonly parsed: ListedObject;
  readonly change: Change;
  readonly options: DocumentOptions;
  readonly entries: ReportEntry[];
  readonly patches: ValueMap[];
}

type Path = readonly (string | number)[];

/** Changes the pods in a value. Returns the same value if nothing changes. */
function changeValue(value: Value, path: Path, run: Run): Value {
  if (isMap(value) && value["kind"] === "List" && isList(value["items"])) return changeList(value, path, run);
  const known = identity(value, run);
  try {
    if (isMap(value)) checkNamespace(value, run.options.namespace);
    const { next, injected, findings = [], misread = [], ...rest } = changeResource(value, run);
    const lineOf = (field: string) => run.parsed.place([...path, ...fieldKeys(field)]).line;
    const located = findings.map((finding): Finding => {
      const line = lineOf(finding.field);
      return line === undefined ? finding : { ...finding, line };
    });
    const texts = located.filter(({ severity }) => severity !== "note").map(findingText);
    const misreadTexts = misread.map((each) => misreadText(each, path, run.parsed));
    const patchWarnings = addPatch(value, next, run);
    run.entries.push({
      ...known,
      ...rest,
      warnings: [...misreadTexts, ...rest.warnings, ...texts, ...patchWarnings],
      ...located.length === 0 ? {} : { findings: located },
      ...startFor([...rest.warnings, ...patchWarnings], path, run),
    });
    if (isMap(value)) {
      const off = rulesOffBy(value).union(rulesOffBy(injected?.pod ?? {}));
      run.options.seen?.({ described: known, manifest: value, injected, off, lineOf });
    }
    return next;
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    run.entries.push(failure(error, known, path, run.parsed));
    return value;
  }
}

/** Returns the line where a resource starts, if it has warnings. Finding the line is slow. */
function startFor(warnings: readonly string[], path: Path, { parsed }: Run): Pick<ReportEntry, "start"> {
  return warnings.length === 0 ? {} : { start: parsed.place(path).line };
}

/** Formats a warning: `line 3: spec.RestartPolicy: ...`. `path` is the workload's path in the document. */
export function misreadText(misread: Misread, path: Path, parsed: Pick<ListedObject, "place" | "written">): string {
  const whole = [...path, ...misread.path];
  const { line, field } = parsed.place(whole);
  const message = misread.message(parsed.written(whole), misread.isConverted);
  return `${line === undefined ? "" : `line ${line}: `}${field}: ${message}`;
}

/** With `--patch`, adds the patch of a changed resource to `patches`. Returns warnings about the patch. */
function addPatch(before: Value, after: Value, { options, patches }: Run): readonly string[] {
  if (options.patch !== true || after === before || !isMap(before) || !isMap(after)) return [];
  const { patch, warnings } = workloadPatch(before, after);
  patches.push(patch);
  return warnings;
}

function changeList(list: ValueMap, path: Path, run: Run): Value {
  const before = list["items"];
  if (!isList(before)) return list;
  if (before.length === 0) {
    const message = "the List has no items";
    run.entries.push({
      ...identity(list, run),
      ...{ result: "skipped", reason: "empty-list", field: "items", message, warnings: [] },
    });
  }
  const after = before.map((item, index) => changeValue(item, [...path, "items", index], run));
  return after.every((item, index) => item === before[index]) ? list : withKey(list, "items", after);
}

function identity(value: Value, { parsed: { doc }, options }: Run): Described {
  const manifest = isMap(value) ? value : {};
  const metadata = metadataOf(manifest);
  return {
    file: doc.file,
    document: doc.index,
    apiVersion: textAt(manifest, "apiVersion"),
    kind: textAt(manifest, "kind"),
    namespace: textAt(metadata, "namespace") || (options.namespace ?? ""),
    name: nameText(metadata["name"]) || textAt(metadata, "generateName"),
  };
}

/** Returns a name as text, even if YAML parses the name as a number or a boolean. */
function nameText(name: Value | undefined): string {
  return name === undefined || name === null || typeof name === "object" ? "" : String(name);
}

/** Builds the entry for a failed resource. The error's field path is extended to start at the document. */
function failure(error: MeshError, known: Described, path: Path, parsed: ListedObject): ReportEntry {
  const keys = [...path, ...fieldKeys(error.place?.field ?? "")];
  const place = { ...parsed.place(keys), document: parsed.doc.index };
  return {
    ...known,
    result: "failed",
    reason: error instanceof InjectionError ? error.reason : "failed",
    field: place.field ?? "",
    message: error.message,
    warnings: [],
    error: new MeshError(error.message, { place, cause: error, hint: error.hint }),
  };
}

function checkNamespace(manifest: ValueMap, namespace: string | undefined): void {
  const own = textAt(metadataOf(manifest), "namespace");
  if (namespace === undefined || own === "" || own === namespace) return;
  throw new InjectionError(
    "namespace-mismatch",
    `The namespace from the provided object "${own}" does not match the namespace "${namespace}"`,
    { place: { field: "metadata.namespace" }, hint: `you must pass '--namespace=${own}' to perform this operation` },
  );
}

export interface Outcome extends Omit<ReportEntry, keyof Described | "error"> {
  readonly next: Value;
  readonly injected?: InputObject["injected"];
  /** Fields that Kubernetes would reject or ignore. */
  readonly misread?: readonly Misread[];
}

function changeResource(value: Value, run: Run): Outcome {
  if (run.options.output === "json") checkObject(value);
  const rows = workloadKinds(value, run.options.templatePaths);
  const [first, ...more] = rows;
  if (first === undefined || !isMap(value)) return notWorkload(checkedList(value));
  const changed = (manifest: Value, row: WorkloadKind) =>
    isMap(manifest) ? run.change(manifest, row, run.options) : notWorkload(manifest);
  return more.reduce((outcome, row) => both(outcome, changed(outcome.next, row)), changed(value, first));
}

/** Combines the outcomes of two pods in one manifest. The result that comes first in ORDER wins. */
function both(before: Outcome, after: Outcome): Outcome {
  const isAfter = ORDER.indexOf(after.result) < ORDER.indexOf(before.result);
  return {
    ...isAfter ? after : before,
    warnings: [...before.warnings, ...after.warnings],
    findings: [...before.findings ?? [], ...after.findings ?? []],
    misread: [...before.misread ?? [], ...after.misread ?? []],
    next: after.next,
  };
}

const ORDER: readonly Outcome["result"][] = ["injected", "uninjected", "unchanged", "skipped"];

/** Accepts a List without items; rejects one whose items are not a list. */
function checkedList(value: Value): Value {
  const items = isMap(value) && value["kind"] === "List" ? value["items"] ?? null : null;
  if (items === null || isList(items)) return value;
  throw new InjectionError("invalid-manifest", 'The List cannot be read: "items" must be a list', {
    place: { field: "items" },
  });
}

/** Rejects a document that is not an object. The items of a JSON List must be objects. */
function checkObject(value: Value): void {
  if (isMap(value)) return;
  const what = isList(value) ? "list" : typeof value;
  throw new InjectionError(
    "invalid-manifest",
    `The document is a ${what}, not a manifest: JSON output cannot contain it`,
  );
}

function notWorkload(value: Value): Outcome {
  return { result: "skipped", field: "kind", ...notInjected(value), next: value };
}
