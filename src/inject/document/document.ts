/** Injection of one document: the same bytes if nothing is injected, else edits of its text. */
import { MeshError } from "../../core/errors.ts";
import { fieldKeys } from "../../core/field_path.ts";
import { goJson } from "../../core/gojson.ts";
import { decode, problemTexts } from "../../core/kube/mod.ts";
import { ANNOTATION, misspelledAnnotations } from "../../core/mesh/mod.ts";
import { isList, isMap, mapAt, textAt, type Value, type ValueMap } from "../../core/value.ts";
import { editDocument, type ParsedDocument } from "../../core/yaml/mod.ts";
import { conform } from "./conform.ts";
import { decide } from "../decision/decision.ts";
import { InjectionError } from "../injection_error.ts";
import type { Injector } from "../config/injector.ts";
import {
  annotation,
  annotationsOf,
  containersOf,
  labelsOf,
  metadataOf,
  type Pod,
  withKey,
  withSpecKey,
} from "../pod/pod.ts";
import { injectPod } from "../pod/inject_pod.ts";
import type { ReportEntry } from "./report.ts";
import { sameValue } from "../../core/same_value.ts";
import { withStringKeys } from "./string_keys.ts";
import { hasPod, isCustom, type WorkloadKind, workloadKinds } from "./kinds.ts";
import { notInjected } from "./other_kinds.ts";
import { ownerOf, podIn, withPod } from "./workload.ts";

/** Options of all documents. */
export interface DocumentOptions {
  /** Namespace of resources without one; resources with another namespace fail. */
  readonly namespace?: string | undefined;
  readonly output: "yaml" | "json";
  /** Places of pods in kinds that are not known; they come before those that are. */
  readonly templatePaths?: readonly WorkloadKind[] | undefined;
}

/** The result of a document. */
export interface DocumentResult {
  /** Its text; `undefined` if a part of it failed, because it must not be half injected. */
  readonly text: string | undefined;
  /** The objects of a List as JSON, to be items of another List. */
  readonly items?: () => readonly string[];
  /** One for each resource; a List has several. */
  readonly entries: readonly ReportEntry[];
}

/** Injects the workloads of a document. Failures are entries, not errors. */
export function injectDocument(parsed: ParsedDocument, injector: Injector, options: DocumentOptions): DocumentResult {
  const run: Run = { parsed, injector, options, entries: [] };
  if (parsed.value === null) return { text: options.output === "json" ? "" : parsed.doc.text, entries: [] };
  const next = injectValue(parsed.value, [], run);
  if (run.entries.some(({ result }) => result === "failed")) {
    return { text: undefined, entries: skippedItems(run.entries) };
  }
  const text = textOf(parsed, next, options.output);
  const items = itemsOf(next);
  if (options.output === "yaml" || items === undefined) return { text, entries: run.entries };
  return { text, items: () => items.map(jsonText), entries: run.entries };
}

function textOf(parsed: ParsedDocument, next: Value, output: "yaml" | "json"): string {
  if (output === "yaml") return next === parsed.value ? parsed.doc.text : editDocument(withStringKeys(parsed), next);
  if (next === parsed.value && isJson(parsed.doc.text)) return parsed.doc.text;
  return jsonText(next) + "\n";
}

function jsonText(value: Value): string {
  return goJson(value, { indent: "    ", escapeHtml: false });
}

/** A mapping of YAML may begin like one of JSON. */
function isJson(text: string): boolean {
  if (!text.trimStart().startsWith("{")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The items of a List; `undefined` for another value. */
function itemsOf(value: Value): readonly Value[] | undefined {
  if (!isMap(value) || value["kind"] !== "List") return undefined;
  const items = value["items"] ?? null;
  return isList(items) ? items : [];
}

/** A List with a failing item is not written, so none of its items counts as injected. */
function skippedItems(entries: readonly ReportEntry[]): readonly ReportEntry[] {
  return entries.map((entry) =>
    entry.result === "failed" ? entry : {
      ...entry,
      result: "skipped",
      reason: "list-item-failed",
      field: "",
      message: "another item of its List failed",
    }
  );
}

interface Run {
  readonly parsed: ParsedDocument;
  readonly injector: Injector;
  readonly options: DocumentOptions;
  readonly entries: ReportEntry[];
}

type Path = readonly (string | number)[];

/** The value with sidecars; the same value if nothing is injected. */
function injectValue(value: Value, path: Path, run: Run): Value {
  if (isMap(value) && value["kind"] === "List" && isList(value["items"])) return injectList(value, path, run);
  const known = identity(value, run);
  try {
    if (isMap(value)) checkNamespace(value, run.options.namespace);
    const { next, ...rest } = injectResource(value, run);
    run.entries.push({ ...known, ...rest });
    return next;
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    run.entries.push(failure(error, known, path, run.parsed));
    return value;
  }
}

function injectList(list: ValueMap, path: Path, run: Run): Value {
  const before = list["items"];
  if (!isList(before)) return list;
  const after = before.map((item, index) => injectValue(item, [...path, "items", index], run));
  return after.every((item, index) => item === before[index]) ? list : withKey(list, "items", after);
}

type Known = Pick<ReportEntry, "file" | "document" | "apiVersion" | "kind" | "namespace" | "name">;

function identity(value: Value, { parsed: { doc }, options }: Run): Known {
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

/** The text of a name, also if YAML reads it as a number or a boolean. */
function nameText(name: Value | undefined): string {
  return name === undefined || name === null || typeof name === "object" ? "" : String(name);
}

/** A failure with its place in the file: the field of the error, as seen from the document. */
function failure(error: MeshError, known: Known, path: Path, parsed: ParsedDocument): ReportEntry {
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

type Outcome = Pick<ReportEntry, "result" | "reason" | "field" | "message" | "warnings"> & { readonly next: Value };

function injectResource(value: Value, run: Run): Outcome {
  if (run.options.output === "json") checkObject(value);
  const rows = workloadKinds(value, run.options.templatePaths);
  const [first, ...more] = rows;
  if (first === undefined || !isMap(value)) return notWorkload(checkedList(value));
  return more.reduce((outcome, row) => both(outcome, injectRow(outcome.next, row, run)), injectRow(value, first, run));
}

/** The outcome of a manifest with several pods: what happened to one of them counts more than what did not. */
function both(before: Outcome, after: Outcome): Outcome {
  const isAfter = ORDER.indexOf(after.result) < ORDER.indexOf(before.result);
  return {
    ...isAfter ? after : before,
    warnings: [...before.warnings, ...after.warnings],
    next: after.next,
  };
}

const ORDER: readonly Outcome["result"][] = ["injected", "unchanged", "skipped"];

function injectRow(value: Value, row: WorkloadKind, run: Run): Outcome {
  if (!isMap(value)) return notWorkload(value);
  if (isCustom(row) && !hasPod(value, row)) return withoutTemplate(value, row);
  const manifest = readManifest(value, row);
  const pod = podIn(manifest, row);
  const decision = decide(pod, { ...run.injector.config, byHand: run.injector.byHand });
  const field = fieldIn(decision.field, row);
  const warnings = [...decision.warnings, ...controllerWarnings(manifest, pod, row)];
  if (!decision.inject) return { ...decision, result: "skipped", field, warnings, next: value };
  return { ...decision, field, ...injectWorkload(value, manifest, { row, run, warnings }) };
}

/** Accepts a List without items; rejects one whose items are not a list. */
function checkedList(value: Value): Value {
  const items = isMap(value) && value["kind"] === "List" ? value["items"] ?? null : null;
  if (items === null || isList(items)) return value;
  throw new InjectionError("invalid-manifest", 'The List cannot be read: "items" must be a list', {
    place: { field: "items" },
  });
}

/** Only objects may be in a stream of JSON manifests. */
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

/** A Rollout may refer to a Deployment instead. */
function withoutTemplate(value: ValueMap, { kind, path }: WorkloadKind): Outcome {
  const field = path.join(".");
  const message = `this ${kind} has no pod template: "${field}" is missing`;
  return { result: "skipped", reason: "no-template", field, message, warnings: [], next: value };
}

/** The manifest as Kubernetes reads it. Errors: an InjectionError that names every invalid field. */
function readManifest(value: ValueMap, row: WorkloadKind): ValueMap {
  if (!isCustom(row)) return readTyped(value, row);
  const pod = inPodOf(row, () => readTyped(podIn(value, row), row));
  return withPod(value, row, withContainerNames(pod, row.containerName));
}

function readTyped(value: ValueMap, row: WorkloadKind): ValueMap {
  const { value: typed, problems } = decode(value, row.type);
  const [first] = problems;
  if (first === undefined) return conform(value, typed, row.type);
  throw new InjectionError("invalid-manifest", `The ${row.kind} cannot be read: ${problemTexts(problems)}`, {
    place: { field: first.field },
  });
}

/** Names containers as the controller of the kind does: several get a number. */
function withContainerNames(pod: Pod, name: string | undefined): Pod {
  const containers = containersOf(pod, "containers");
  if (name === undefined || containers.every((container) => textAt(container, "name") !== "")) return pod;
  const named = containers.map((container, index) =>
    textAt(container, "name") === ""
      ? withKey(container, "name", containers.length === 1 ? name : `${name}-${index}`)
      : container
  );
  return withSpecKey(pod, "containers", named);
}

interface Workload {
  readonly row: WorkloadKind;
  readonly run: Run;
  readonly warnings: readonly string[];
}

function injectWorkload(value: ValueMap, manifest: ValueMap, { row, run, warnings }: Workload) {
  const pod = podIn(manifest, row);
  checkContainers(manifest, pod, row);
  const owner = ownerOf(manifest, row, run.options.namespace ?? "");
  const injected = inPodOf(row, () => injectPod(pod, owner, run.injector));
  const changed = withPod(manifest, row, injected.pod);
  const next = row.typed ? decode(changed, row.type).value : changed;
  const all = [...warnings, ...spelling(pod, run.injector), ...injected.warnings];
  if (sameValue(value, next)) {
    return {
      result: "unchanged",
      reason: "already-injected",
      message: "already injected",
      warnings: all,
      next: value,
    } as const;
  }
  return { result: "injected", warnings: all, next } as const;
}

function checkContainers(manifest: ValueMap, pod: Pod, row: WorkloadKind): void {
  if (containersOf(pod, "containers").length > 0) return;
  const missing = hasPod(manifest, row) ? [...row.path, "spec", "containers"] : row.path;
  const field = missing.join(".");
  throw new InjectionError("no-containers", `The ${row.kind} has no containers: "${field}" is missing or empty`, {
    place: { field },
  });
}

/** Turns field paths of the pod in errors into paths of the manifest. */
function inPodOf<T>(row: WorkloadKind, action: () => T): T {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof MeshError) || error.place?.field === undefined) throw error;
    const reason = error instanceof InjectionError ? error.reason : "invalid-manifest";
    const place = { field: fieldIn(error.place.field, row) };
    throw new InjectionError(reason, error.message, { place, hint: error.hint, cause: error });
  }
}

function fieldIn(field: string, row: WorkloadKind): string {
  return /^(spec|metadata)\b/.test(field) ? [...row.path, field].join(".") : field;
}

/** Warns about requests on a controller, which do not reach its pods. */
function controllerWarnings(manifest: ValueMap, pod: Pod, row: WorkloadKind): readonly string[] {
  if (row.path.length === 0) return [];
  const to = row.path.join(".");
  return (["labels", "annotations"] as const).flatMap((key) => {
    const own = mapAt(metadataOf(manifest), key)[ANNOTATION.inject];
    if (
      own === undefined || labelsOf(pod)[ANNOTATION.inject] !== undefined ||
      annotation(pod, ANNOTATION.inject) !== undefined
    ) return [];
    const what = key.slice(0, -1);
    return [
      `The ${what} "${ANNOTATION.inject}" is on the ${row.kind}, where it has no effect: move it to ${to}.metadata.${key}`,
    ];
  });
}

/** Istio 1.8 reports every unknown annotation of Istio; for other releases only likely misspellings count. */
function spelling(pod: Pod, { config }: Injector): readonly string[] {
  const era = config.form === "legacy" && config.legacy.release.minor === 8 ? "1.8" : "current";
  const annotations = Object.fromEntries(
    Object.entries(annotationsOf(pod)).filter((entry): entry is [string, string] => typeof entry[1] === "string"),
  );
  return misspelledAnnotations(annotations, era).map(({ message }) => message);
}
