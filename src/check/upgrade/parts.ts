/** Reads the fields that injection added to a pod. Omits defaults of the API server (core/v1/defaults.go, ServiceAccount). */
import { goJson } from "../../golang/go_json.ts";
import { canonicalQuantity } from "../../kube/mod.ts";
import { isList, isMap, mapAt, mapsAt, textAt, type Value, type ValueMap } from "../../base/value.ts";
import { type InjectionStatus, type Pod, readStatus, specOf } from "../../inject/mod.ts";

/** Values as text, by field name such as `env[PROXY_CONFIG]`. */
export type Fields = Readonly<Record<string, string>>;

/** The fields of each injected container, by container name. The name `""` is the pod itself. */
export type Parts = Readonly<Record<string, Fields>>;

/** The list that contains a container. A move turns a native sidecar into an ordinary container, or the reverse. */
export const PLACE = "place";

/** Returns the injected parts of a pod; `undefined` if the pod has no injection status annotation. */
export function partsOf(pod: Pod): Parts | undefined {
  const status = readStatus(pod);
  if (status === undefined) return undefined;
  const spec = specOf(pod);
  const names = new Set([...status.initContainers, ...status.containers]);
  const containers = ["initContainers", "containers"].flatMap((list) =>
    mapsAt(spec, list).filter((each) => names.has(textAt(each, "name")))
      .map((each) => [textAt(each, "name"), { [PLACE]: list, ...containerFields(each) }] as const)
  );
  return Object.fromEntries([...containers, ["", podFields(spec, status)] as const]);
}

function podFields(spec: ValueMap, status: InjectionStatus): Fields {
  const named = (list: "volumes" | "imagePullSecrets") =>
    mapsAt(spec, list).filter((each) => status[list].includes(textAt(each, "name")));
  return fieldsOf({
    securityContext: mapAt(spec, "securityContext"),
    volumes: named("volumes").map(withSource),
    imagePullSecrets: named("imagePullSecrets"),
  });
}

/** Adds `emptyDir: {}` to a volume without a source, because Istio's templates write `emptyDir:` without a value. */
function withSource({ name = "", ...source }: ValueMap): ValueMap {
  return Object.values(source).every((each) => each === null) ? { name, emptyDir: {} } : { name, ...source };
}

function containerFields({ name: _name, ...container }: ValueMap): Fields {
  const fields = fieldsOf({
    ...container,
    ...container["env"] === undefined ? {} : { env: mapsAt(container, "env").map(plainEnv) },
  });
  const isUsual = ([field, text]: [string, string]) =>
    field === "imagePullPolicy" ? text === pullPolicy(textAt(container, "image")) : isOfLimit(field, text, fields);
  return Object.fromEntries(Object.entries(fields).filter((each) => !isUsual(each)));
}

/** Drops an empty value of an environment variable, as the API server does. */
function plainEnv(entry: ValueMap): ValueMap {
  return entry["valueFrom"] === undefined ? { ...entry, value: textAt(entry, "value") } : entry;
}

function pullPolicy(image: string): string {
  const [, tag = "latest"] = /:([^:/@]+)$/.exec(image) ?? [];
  return image.includes("@") || tag !== "latest" ? "IfNotPresent" : "Always";
}

/** Whether a field is a resource request that Kubernetes fills in from the limit, because the template sets none. */
function isOfLimit(field: string, text: string, fields: Fields): boolean {
  return field.startsWith(REQUESTS) && fields[`resources.limits.${field.slice(REQUESTS.length)}`] === text;
}

const REQUESTS = "resources.requests.";

/** Defaults that the API server sets. `{}` is an empty mapping. */
const DEFAULTS: readonly (readonly [field: RegExp, text: string])[] = [
  [/^(resources|securityContext)$/, "{}"],
  [/^terminationMessagePath$/, "/dev/termination-log"],
  [/^terminationMessagePolicy$/, "File"],
  [/^ports\[.*\]\.protocol$/, "TCP"],
  [/Probe\.initialDelaySeconds$/, "0"],
  [/Probe\.timeoutSeconds$/, "1"],
  [/Probe\.periodSeconds$/, "10"],
  [/Probe\.successThreshold$/, "1"],
  [/Probe\.failureThreshold$/, "3"],
  [/\.httpGet\.scheme$/, "HTTP"],
  [/\.fieldRef\.apiVersion$/, "v1"],
  [/\.resourceFieldRef\.divisor$/, "0"],
  [/^volumes\[[^\]]*\]\.(configMap|secret|projected|downwardAPI)\.defaultMode$/, "420"],
  [/\.serviceAccountToken\.expirationSeconds$/, "3600"],
  [/\.hostPath\.type$/, ""],
  [/\.readOnly$/, "false"],
];

/** Matches the mount of the service account token, which an admission plugin adds to every container. */
const TOKEN = /^volumeMounts\[\/var\/run\/secrets\/kubernetes\.io\/serviceaccount\]/;

const QUANTITY = /^resources\.(limits|requests)\.|\.emptyDir\.sizeLimit$|\.resourceFieldRef\.divisor$/;

function fieldsOf(map: ValueMap): Fields {
  const fields: Record<string, string> = {};
  for (const [key, value] of Object.entries(map)) add(fields, key, value);
  return fields;
}

function add(fields: Record<string, string>, path: string, value: Value): void {
  if (isMap(value) && Object.keys(value).length > 0) {
    for (const [key, each] of Object.entries(value)) add(fields, `${path}.${key}`, each);
  } else if (isList(value) && value.length > 0 && value.every(isNamed)) {
    for (const item of value) addItem(fields, path, item);
  } else {
    addText(fields, path, value);
  }
}

/** Keys that identify the items of a list. */
const KEYS = ["mountPath", "name", "containerPort", "path", "key"];

function keyOf(item: ValueMap): string | undefined {
  return KEYS.find((key) => item[key] !== undefined);
}

function isNamed(item: Value): item is ValueMap {
  return isMap(item) && keyOf(item) !== undefined;
}

function addItem(fields: Record<string, string>, list: string, item: ValueMap): void {
  const key = keyOf(item) ?? "";
  const { [key]: id, ...rest } = item;
  const path = `${list}[${textOf(id ?? null)}]`;
  const [[only, value] = ["", null], ...more] = Object.entries(rest);
  if (more.length === 0 && only === "value") addText(fields, path, value);
  else if (only === "") fields[path] = "{}";
  else add(fields, path, rest);
}

function addText(fields: Record<string, string>, path: string, value: Value): void {
  if (value === null || (isList(value) && value.length === 0)) return;
  const text = QUANTITY.test(path) ? canonicalQuantity(textOf(value)) ?? textOf(value) : textOf(value);
  const isDefault = DEFAULTS.some(([field, usual]) => text === usual && field.test(path));
  if (!isDefault && !TOKEN.test(path)) fields[path] = text;
}

function textOf(value: Value): string {
  return typeof value === "string" ? value : goJson(value, { escapeHtml: false });
}
