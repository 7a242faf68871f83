/** Parses and checks the values that templates read: the Helm values of the control plane's chart. */
import { MeshError } from "../../base/errors.ts";
import { isList, isMap, newMap, type Value, valueAt, type ValueMap } from "../../base/value.ts";
import { parseYaml } from "../../yaml/mod.ts";
import { configMapEntry } from "./config_map.ts";

/**
 * Parses values from YAML or JSON, or from the key `values` of the injector's ConfigMap. All numbers become floats, as in Istio.
 * An empty text gives no values. Throws a MeshError with the position if the text is not a mapping.
 */
export function parseValues(text: string, file: string): ValueMap {
  const value = parseYaml(text, file);
  const inner = configMapEntry(value, "values", file);
  if (inner !== undefined) return parseValues(inner, file);
  if (value === null) return newMap();
  if (!isMap(value)) throw notValues("not a mapping", file);
  if (typeof value["kind"] === "string" && "apiVersion" in value) {
    throw notValues(`the file contains a ${value["kind"]}`, file);
  }
  return floats(value);
}

function notValues(why: string, file: string): MeshError {
  return new MeshError(`Invalid values: ${why}`, {
    place: { file },
    hint: "use the values of the control plane's chart, or the injector's ConfigMap",
  });
}

/** Returns a copy in which bigints are numbers, as in JSON. */
export function floats(map: ValueMap): ValueMap {
  const result = newMap();
  for (const [key, item] of Object.entries(map)) result[key] = float(item);
  return result;
}

function float(value: Value): Value {
  if (typeof value === "bigint") return Number(value);
  if (isList(value)) return value.map(float);
  return isMap(value) ? floats(value) : value;
}

interface Type {
  readonly expected: string;
  readonly fits: (value: Value) => boolean;
  readonly paths: readonly string[];
}

/** Types of the values that Istio's templates read (values_types.proto). Other values may have any type. */
const TYPES: readonly Type[] = [
  {
    expected: "a string",
    fits: (value) => typeof value === "string",
    paths: [
      "global.hub",
      "global.variant",
      "global.network",
      "global.meshID",
      "global.istioNamespace",
      "global.imagePullPolicy",
      "global.pilotCertProvider",
      "global.caAddress",
      "global.caName",
      "global.multiCluster.clusterName",
      "global.logging.level",
      "global.proxy.image",
      "global.proxy.clusterDomain",
      "global.proxy.logLevel",
      "global.proxy.componentLogLevel",
      "global.proxy.includeIPRanges",
      "global.proxy.excludeInboundPorts",
      "global.proxy.outlierLogPath",
      "global.proxy_init.image",
    ],
  },
  {
    expected: "true or false",
    fits: (value) => typeof value === "boolean",
    paths: [
      "global.logAsJson",
      "global.mountMtlsCerts",
      "global.nativeNftables",
      "global.proxy.privileged",
      "global.proxy.holdApplicationUntilProxyStarts",
      "global.proxy_init.minimal",
      "sidecarInjectorWebhook.rewriteAppHTTPProbe",
    ],
  },
  { expected: "a whole number", fits: isWhole, paths: ["global.proxy.statusPort"] },
  { expected: "a list", fits: isList, paths: ["global.imagePullSecrets"] },
  { expected: "a mapping", fits: isMap, paths: ["global", "global.proxy", "global.proxy_init", "global.multiCluster"] },
];

function isWhole(value: Value): boolean {
  const number = typeof value === "string" ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 0 && value !== "";
}

/** Checks types. Throws a MeshError that names every value of the wrong type. Missing and null values are valid. */
export function checkValues(values: ValueMap, file: string): void {
  const problems = TYPES.flatMap(({ expected, fits, paths }) =>
    paths.filter((path) => {
      const value = valueAt(values, ...path.split(".")) ?? null;
      return value !== null && !fits(value);
    }).map((path) => ({ path, text: `"${path}" must be ${expected}` }))
  );
  const [first] = problems;
  if (first === undefined) return;
  throw new MeshError(`Invalid values: ${problems.map(({ text }) => text).join("; ")}`, {
    place: { file, field: first.path },
    hint:
      "use the types of the control plane's chart: quote strings that look like numbers, do not quote true and false",
  });
}
