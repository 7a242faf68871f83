/** Finds unknown keys in the user's values and mesh configuration. */
import { closest } from "../../base/text/mod.ts";
import { type MeshConfig, type UnknownField, unknownMeshFields } from "../../istio/mod.ts";
import { isMap, valueAt, type ValueMap } from "../../base/value.ts";
import { type Source, textBesideConfig } from "./config.ts";
import type { Configuration, GivenConfiguration } from "./sources.ts";
import { parseValues } from "./values.ts";

interface Made {
  readonly config: { readonly form: "modern" | "legacy" };
  readonly values: ValueMap;
  readonly mesh: MeshConfig;
}

export interface FileWarning {
  readonly file: string;
  readonly message: string;
}

/** Formats a warning as text: `values.yaml: The key ...`. */
export function fileWarningText({ file, message }: FileWarning): string {
  return `${file}: ${message}`;
}

/** Warns about keys of the user's files that have no effect. `used`: the texts that the injector was loaded from. */
export function unknownKeys(
  { config, values, mesh }: Pick<GivenConfiguration, "config" | "values" | "mesh">,
  injector: Made,
  used: Pick<Configuration, "config" | "values">,
): readonly FileWarning[] {
  const isRead = values !== undefined && injector.config.form === "modern";
  const own = () => values === used.values ? injector.values : parseValues(values?.text ?? "", values?.file ?? "");
  return [
    ...isRead ? warnings(values.file, unknownValues(own(), used.config.text)) : [],
    ...mesh === undefined ? [] : warnings(mesh.file, unknownMeshFields(injector.mesh)),
    ...mesh === undefined || mesh.file === config?.file ? [] : configInMesh(mesh),
  ];
}

/** Warns if the file of `--mesh-config` is a whole configuration, as `--show-config` prints it. */
function configInMesh({ text, file }: Source): readonly FileWarning[] {
  if (textBesideConfig(text, file, "config") === undefined) return [];
  const message =
    'Only its key "mesh" is used; "config" and "values" have no effect: give the file with --inject-config';
  return [{ file, message }];
}

function warnings(file: string, unknown: readonly UnknownField[]): readonly FileWarning[] {
  return unknown.map(({ field, meant }) => ({
    file,
    message: `The key "${field}" is unknown and has no effect` +
      (meant === undefined ? "" : `: did you mean "${meant}"?`),
  }));
}

/** Known keys of Istio's chart, by parent path. Source: Istio's values_types.proto and its charts' values.yaml. */
const KNOWN: Readonly<Record<string, string>> = {
  "":
    "base cni compatibilityVersion defaultRevision experimental gatewayClasses gateways global istio_cni istiodRemote " +
    "meshConfig ownerName pilot platform profile revision revisionTags sidecarInjectorWebhook telemetry ztunnel " +
    "_internal_defaults_do_not_set defaults",
  "global": "agentgateway arch autoscalingv2API caAddress caName certSigners configCluster configRootNamespace " +
    "configValidation defaultConfigVisibilitySettings defaultNodeSelector defaultPodDisruptionBudget defaultResources " +
    "defaultTolerations enableReaderRBAC externalIstiod hub imagePullPolicy imagePullSecrets ipFamilies ipFamilyPolicy " +
    "istioNamespace istiod jwtPolicy logAsJson logging meshID meshNetworks mountMtlsCerts multiCluster nativeNftables " +
    "network networkPolicy oneNamespace omitSidecarInjectorConfigMap operatorManageWebhooks pilotCertProvider platform " +
    "podDNSSearchNamespaces priorityClassName proxy proxy_init remotePilotAddress resourceScope revision sds sts tag " +
    "tracer trustBundleName useMCP variant waypoint",
  "global.proxy": "autoInject clusterDomain componentLogLevel enableCoreDump excludeIPRanges excludeInboundPorts " +
    "excludeOutboundPorts holdApplicationUntilProxyStarts image includeIPRanges includeInboundPorts " +
    "includeOutboundPorts lifecycle logLevel outlierLogPath privileged readinessFailureThreshold " +
    "readinessInitialDelaySeconds readinessPeriodSeconds resources seccompProfile startupProbe statusPort tracer",
  "global.proxy.startupProbe": "enabled failureThreshold",
  "global.proxy_init": "forceApplyIptables image minimal resources",
  "global.multiCluster": "clusterName enabled globalDomainSuffix includeEnvoyFilter",
  "global.logging": "level",
  "global.sds": "token",
  "pilot.cni": "chained enabled provider",
  "sidecarInjectorWebhook": "alwaysInjectSelector defaultTemplates enableNamespacesByDefault injectedAnnotations " +
    "injectionURL neverInjectSelector objectSelector reinvocationPolicy rewriteAppHTTPProbe templates useLegacySelectors",
};

/** A key that occurs in the text of the templates counts as known: a custom template may read custom keys. */
function unknownValues(values: ValueMap, config: string): readonly UnknownField[] {
  return Object.entries(KNOWN).flatMap(([path, words]) => {
    const known = words.split(" ");
    const map = path === "" ? values : valueAt(values, ...path.split("."));
    const keys = map !== undefined && isMap(map) ? Object.keys(map) : [];
    return keys.filter((key) => !known.includes(key) && !config.includes(key)).map((key) => ({
      field: path === "" ? key : `${path}.${key}`,
      meant: closest(key, known),
    }));
  });
}
