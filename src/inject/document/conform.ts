import { type FieldType, type StructSchema, structSchema } from "../../kube/mod.ts";
import { isList, isMap, newMap, type Value, type ValueMap } from "../../base/value.ts";

/** A field that Kubernetes would reject or ignore, with the reason. */
export interface Misread {
  readonly path: readonly (string | number)[];
  /** Whether the output has the converted field. A document that is not changed keeps the field as written. */
  readonly isConverted: boolean;
  /** `written` is the field's text in the file; `undefined` if it is unknown. */
  readonly message: (written: string | undefined, isConverted: boolean) => string;
}

/** Matches quantities that may be smaller than one nano. Kubernetes rounds these up. */
const SUB_NANO = /\.\d+[nu]$|e-\d{2,}$/i;

/**
 * Converts a manifest to what Istio reads: numbers and booleans in string fields become strings, and field names get the case
 * of the schema. Unknown fields stay. Shares unchanged parts; returns the same object if nothing changes. `typed` is the
 * manifest after `decode`.
 */
export function conform(
  manifest: ValueMap,
  typed: ValueMap,
  type: string,
): { readonly manifest: ValueMap; readonly misread: readonly Misread[] } {
  const run: Run = { path: [], misread: [] };
  return { manifest: conformStruct(manifest, typed, structSchema(type), run), misread: run.misread };
}

interface Run {
  readonly path: readonly (string | number)[];
  readonly misread: Misread[];
}

function below(run: Run, key: string | number): Run {
  return { path: [...run.path, key], misread: run.misread };
}

function note({ path, misread }: Run, message: Misread["message"]): void {
  misread.push({ path, isConverted: false, message });
}

function conformStruct(raw: ValueMap, typed: Value | undefined, schema: StructSchema, run: Run): ValueMap {
  return conformEntries(raw, typed, (key) => {
    const exact = schema.byJson.get(key);
    const field = exact ?? schema.byFold.get(key.toLowerCase());
    if (exact === undefined && field !== undefined) {
      note(below(run, key), (_, isConverted) => unknownField(key, field.json, isConverted));
    }
    return field;
  }, run);
}

/** Converts the entries of a mapping. `fieldOf` returns the name and type of a key; `undefined` for an unknown key. */
function conformEntries(
  raw: ValueMap,
  typed: Value | undefined,
  fieldOf: (key: string) => { readonly json: string; readonly type: FieldType } | undefined,
  run: Run,
): ValueMap {
  const values = isMap(typed) ? typed : newMap();
  let copy: ValueMap | undefined;
  for (const [key, before] of Object.entries(raw)) {
    const field = fieldOf(key);
    if (field === undefined) continue;
    const after = conformValue(before, values[field.json], field.type, below(run, key));
    if (after === before && field.json === key) continue;
    copy ??= Object.assign(newMap(), raw);
    if (field.json !== key) delete copy[key];
    copy[field.json] = after;
  }
  return copy ?? raw;
}

function conformValue(raw: Value, typed: Value | undefined, type: FieldType, run: Run): Value {
  if (isMap(raw)) return conformMapping(raw, typed, type, run);
  if (isList(raw)) return type.kind === "list" ? conformList(raw, isList(typed) ? typed : [], type.element, run) : raw;
  return typeof typed === "string" ? conformScalar(raw, typed, type.kind, run) : raw;
}

function conformScalar(raw: Value, typed: string, kind: FieldType["kind"], run: Run): Value {
  if (kind === "quantity") return SUB_NANO.test(String(raw)) ? typed : raw;
  if (kind !== "string" || raw === null || typeof raw === "string") return raw;
  note(run, (written, isConverted) => notString(raw, typed, { written, isConverted }));
  return typed;
}

/** Maximum length of a quoted number: some have thousands of digits. */
const MAX_WRITTEN = 40;

interface Shown {
  readonly written: string | undefined;
  readonly isConverted: boolean;
}

/** The warning quotes the text from the file, because `1.10` and `1.1` are the same number. */
function notString(raw: Value, typed: string, { written, isConverted }: Shown): string {
  const quotable = written === undefined || written.length > MAX_WRITTEN ? undefined : written;
  const shown = quotable ?? String(raw);
  const kind = typeof raw === "boolean" ? "boolean" : "number";
  const message = `Kubernetes rejects ${shown}, which is a ${kind}, not a string`;
  if (!isConverted) return `${message}; write it in quotes${quotable === undefined ? "" : `: "${quotable}"`}`;
  const converted = `${message}; the output has "${typed}"`;
  return shown === typed ? converted : `${converted}; to keep ${shown}, write it in quotes: "${shown}"`;
}

function unknownField(key: string, json: string, isConverted: boolean): string {
  return `Kubernetes does not know the field "${key}"; ${isConverted ? "the output has" : "write"} "${json}"`;
}

function conformMapping(raw: ValueMap, typed: Value | undefined, type: FieldType, run: Run): ValueMap {
  if (type.kind === "struct") return conformStruct(raw, typed, structSchema(type.struct), run);
  if (type.kind !== "map") return raw;
  return conformEntries(raw, typed, (key) => ({ json: key, type: type.element }), run);
}

function conformList(raw: Value[], typed: Value[], element: FieldType, run: Run): Value[] {
  const items = raw.map((item, index) =>
    item === null ? typed[index] ?? null : conformValue(item, typed[index], element, below(run, index))
  );
  return items.every((item, index) => item === raw[index]) ? raw : items;
}
