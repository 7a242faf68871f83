/** The injector: its configuration read and checked once, for any number of pods. */
import { templateFunctions } from "../functions/mod.ts";
import { type MeshConfig, parseMeshConfig, type ProxyConfig } from "../../core/mesh/mod.ts";
import { newMap, type ValueMap } from "../../core/value.ts";
import { loadLibraries } from "../../core/gotemplate/sprig/mod.ts";
import { type LegacyConfig, type ModernConfig, parseConfig, textBesideConfig } from "./config.ts";
import { type Legacy, loadLegacy } from "../legacy/mod.ts";
import { type NativeSetting, nativeSetting, type NodesAsked } from "../decision/native.ts";
import type { ProxyEnvs } from "../postprocess/cluster.ts";
import { checkValues, parseValues } from "./values.ts";

/** A text and what messages call it: usually the path it was read from. */
export interface Source {
  readonly text: string;
  readonly file: string;
}

/** What an injector is made from. */
export interface InjectorOptions {
  readonly config: Source;
  /** Without it the values in the configuration's ConfigMap count, if it is one. */
  readonly values?: Source | undefined;
  /** Without it the mesh has Istio's defaults. */
  readonly mesh?: Source | undefined;
  /** Revision of the control plane; `default` and `""` are the one without a name. */
  readonly revision?: string | undefined;
  /** Whether proxies are native sidecars; without it the environment's ENABLE_NATIVE_SIDECARS decides. */
  readonly nativeSidecars?: boolean | undefined;
  /** Cluster and network over those of the values: `ISTIO_META_CLUSTER_ID`, `ISTIO_META_NETWORK`. */
  readonly proxyEnvs?: ProxyEnvs | undefined;
  /** A person names what is injected: the policy `disabled` does not forbid it. */
  readonly byHand: boolean;
  readonly env: (name: string) => string | undefined;
  readonly now: () => Date;
}

/** A configuration whose templates are read, whatever its form. */
export type LoadedConfig = ModernConfig | LegacyConfig & { readonly legacy: Legacy };

/** A configuration ready to inject. */
export interface Injector {
  readonly config: LoadedConfig;
  readonly values: ValueMap;
  readonly mesh: MeshConfig;
  /** Laid over the pod's own `proxy.istio.io/config`: of a ProxyConfig resource that selects the pod. */
  readonly proxyOverlay?: ProxyConfig | undefined;
  /** `""` for the control plane without a revision. */
  readonly revision: string;
  readonly nativeSidecars: boolean;
  /** Whether nodes decide that instead, where they are known. */
  readonly nodesAsked: NodesAsked;
  readonly proxyEnvs: ProxyEnvs;
  readonly byHand: boolean;
  readonly compliancePolicy: string;
  readonly proxyUid: number;
  readonly proxyGid: number;
  readonly env: (name: string) => string | undefined;
  /** What a user should know of the configuration: lines for standard error. */
  readonly notes: readonly string[];
}

/** UID and GID of the proxy in Istio's images. */
const PROXY_ID = 1337;

/**
 * Reads and checks a configuration, and loads the libraries that its templates need.
 * Errors: a MeshError with file and field for configuration, values or mesh configuration that cannot be.
 */
export async function loadInjector(options: InjectorOptions): Promise<Injector> {
  await loadLibraries(options.config.text, options.values?.text ?? "");
  return newInjector(options);
}

/** The same without the libraries: functions that need one fail when a template is rendered. */
export function newInjector(options: InjectorOptions): Injector {
  const { env } = options;
  const values = readValues(options);
  const config = readConfig(options, values);
  const native = options.nativeSidecars === undefined ? nativeSetting(env("ENABLE_NATIVE_SIDECARS")) : undefined;
  return {
    config,
    values: values ?? newMap(),
    mesh: readMesh(options.mesh, config),
    revision: revisionName(options.revision),
    nativeSidecars: options.nativeSidecars ?? native?.native ?? false,
    nodesAsked: nodesAsked(native, options.config.text),
    proxyEnvs: options.proxyEnvs ?? {},
    byHand: options.byHand,
    compliancePolicy: env("COMPLIANCE_POLICY") ?? "",
    proxyUid: PROXY_ID,
    proxyGid: PROXY_ID,
    env,
    notes: [...notes(config, options, native?.warning), ...valuesNotes(options.config.text, values)],
  };
}

/** A template of before native sidecars, and its proxy, are not for them: without being asked nothing changes there. */
function nodesAsked(setting: NativeSetting | undefined, config: string): NodesAsked {
  if (setting === undefined) return "never";
  return setting.nodes === "if-any" && !config.includes(".NativeSidecars") ? "never" : setting.nodes;
}

/** Defaults of the mesh are those of the time that the configuration is from. */
function readMesh(mesh: Source | undefined, config: LoadedConfig): MeshConfig {
  return parseMeshConfig(mesh?.text ?? "", mesh?.file ?? "", config.form === "legacy" ? config.legacy.era : "current");
}

function revisionName(revision = ""): string {
  return revision === "default" ? "" : revision;
}

function readConfig(options: InjectorOptions, values: ValueMap | undefined): LoadedConfig {
  const { text, file } = options.config;
  const world = { env: options.env, now: options.now };
  const config = parseConfig(text, file, templateFunctions(world));
  if (config.form === "modern") {
    checkValues(values ?? newMap(), options.values?.file ?? file);
    return config;
  }
  return { ...config, legacy: loadLegacy(config, { values, mesh: options.mesh?.text ?? "", file, world }) };
}

/** `undefined` if there are none. */
function readValues({ values, config }: InjectorOptions): ValueMap | undefined {
  if (values !== undefined) return parseValues(values.text, values.file);
  const beside = textBesideConfig(config.text, config.file, "values");
  return beside === undefined ? undefined : parseValues(beside, `${config.file} (key "values")`);
}

function notes(
  config: LoadedConfig,
  { byHand, nativeSidecars }: InjectorOptions,
  native: string | undefined,
): readonly string[] {
  const policy = byHand && config.policy !== "enabled"
    ? [`The configuration's policy is "${config.policy}": what is named here is injected all the same`]
    : [];
  return [...formNotes(config, nativeSidecars === true), ...policy, ...(native === undefined ? [] : [native])];
}

/** Without values a template still renders, into fields that say `<no value>`: the cause is better told at once. */
function valuesNotes(config: string, values: ValueMap | undefined): readonly string[] {
  if (values !== undefined || !config.includes(".Values")) return [];
  return ["The configuration reads values and none are given: name their file with --values"];
}

/** An old configuration is not taken for a new one silently. */
function formNotes(config: LoadedConfig, asksForNative: boolean): readonly string[] {
  if (config.form === "modern") return [];
  const { minor, because } = config.legacy.release;
  const used = `The configuration has the form of Istio 1.0 to 1.8 and is used as one of Istio 1.${minor}: ${because}`;
  return asksForNative ? [used, "Native sidecars came later: the proxy is an ordinary container"] : [used];
}
