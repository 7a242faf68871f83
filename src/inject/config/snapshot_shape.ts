/** The form of a snapshot, and what is wrong in a value that does not have it: the file may come from anywhere. */
import { isList, isMap, type Value, type ValueMap } from "../../base/value.ts";

/** A text, a number, a list or mapping of a shape, or fields of shapes. A field with `?` may be absent. */
export type Shape =
  | "text"
  | "number"
  | { readonly list: Shape }
  | { readonly map: Shape }
  | { readonly either: readonly [Shape, Shape] }
  | { readonly fields: Readonly<Record<string, Shape>> };

/** A value that has another shape. */
export interface WrongShape {
  readonly field: string;
  /** `a list`. */
  readonly expected: string;
}

/** The first value of another shape; `undefined` if all is well. Fields that the shape does not name are ignored. */
export function wrongIn(value: Value, shape: Shape, field = ""): WrongShape | undefined {
  if (shape === "text") return typeof value === "string" ? undefined : { field, expected: "a text" };
  if (shape === "number") return typeof value === "number" ? undefined : { field, expected: "a number" };
  if ("either" in shape) return wrongIn(value, shape.either[0], field) && wrongIn(value, shape.either[1], field);
  if ("list" in shape) return wrongInList(value, shape.list, field);
  if (!isMap(value)) return { field, expected: "a mapping" };
  return "map" in shape ? wrongInMap(value, shape.map, field) : wrongInFields(value, shape.fields, field);
}

function wrongInList(value: Value, shape: Shape, field: string): WrongShape | undefined {
  if (!isList(value)) return { field, expected: "a list" };
  return first(value.map((item, index) => () => wrongIn(item, shape, `${field}[${index}]`)));
}

function wrongInMap(map: ValueMap, shape: Shape, field: string): WrongShape | undefined {
  return first(Object.entries(map).map(([key, item]) => () => wrongIn(item, shape, inner(field, key))));
}

function wrongInFields(map: ValueMap, fields: Readonly<Record<string, Shape>>, field: string): WrongShape | undefined {
  return first(
    Object.entries(fields).map(([spelled, shape]) => () => {
      const key = spelled.replace(/\?$/, "");
      const item = map[key] ?? null;
      return item === null && spelled !== key ? undefined : wrongIn(item, shape, inner(field, key));
    }),
  );
}

function inner(field: string, key: string): string {
  return field === "" ? key : `${field}.${key}`;
}

function first(checks: readonly (() => WrongShape | undefined)[]): WrongShape | undefined {
  for (const check of checks) {
    const wrong = check();
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

const TEXTS = { list: "text" } as const;
const STRINGS = { map: "text" } as const;

const SELECTOR = {
  fields: {
    "matchLabels?": STRINGS,
    "matchExpressions?": { list: { fields: { key: "text", operator: "text", "values?": TEXTS } } },
  },
} as const;

const WEBHOOK = {
  fields: {
    name: "text",
    "failurePolicy?": "text",
    "reinvocationPolicy?": "text",
    "timeoutSeconds?": "number",
    "namespaceSelector?": SELECTOR,
    "objectSelector?": SELECTOR,
    "matchConditions?": { list: { fields: { name: "text", expression: "text" } } },
    "clientConfig?": {
      fields: {
        "url?": "text",
        "service?": { fields: { namespace: "text", name: "text", "path?": "text", "port?": "number" } },
      },
    },
    "rules?": { list: { fields: { "operations?": TEXTS, "resources?": TEXTS, "apiGroups?": TEXTS } } },
  },
} as const;

const OBJECT = {
  fields: {
    apiVersion: "text",
    kind: "text",
    metadata: { fields: { name: "text", "namespace?": "text", "labels?": STRINGS } },
    "data?": STRINGS,
    "webhooks?": { list: WEBHOOK },
  },
} as const;

/** A snapshot. `snapshot_schema.ts` is the same for other programs. */
export const SNAPSHOT_SHAPE: Shape = {
  fields: {
    "controlPlane?": {
      fields: { "istioNamespace?": "text", "injectConfigMapName?": "text", "meshConfigMapName?": "text" },
    },
    objects: { list: OBJECT },
    "kubeletVersions?": { either: [TEXTS, STRINGS] },
    "unreadable?": {
      list: { fields: { resource: "text", "namespace?": "text", "name?": "text", needs: "text" } },
    },
    "withheld?": TEXTS,
  },
};
