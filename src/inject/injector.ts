/** Loads an injector: its configuration is parsed and checked once, for any number of pods. */
import { templateFunctions } from "./render/functions/mod.ts";
import { eraOf, type MeshConfig, parseMeshConfig, type ProxyConfig } from "../istio/mod.ts";
import { newMap, type ValueMap } from "../base/value.ts";
import { loadLibraries } from "../golang/gotemplate/sprig/mod.ts";
import { type LegacyConfig, type ModernConfig, parseConfig, type Source, textBesideConfig } from "./config/config.ts";
import { type Legacy, loadLegacy } from "./legacy/mod.ts";
import { type NativeOption, type NativeSetting, nativeSetting, type NodesAsked } from "./decision/native.ts";
import type { ProxyEnvs } from "./postprocess/cluster.ts";
import { type TemplateEnv, templateEnv } from "./config/template_env.ts";
import { LATEST, modernRelease } from "./config/release.ts";
import { checkValues, parseValues } from "./config/values.ts";

/** The inputs for loading an injector. */
export interface InjectorOptions {
  readonly config: Source;
  /** Default: the values in the configuration's ConfigMap. */
  readonly values?: Source | undefined;
  /** Default: Istio's defaults. */
  readonly mesh?: Source | undefined;
  /** Revision of the control plane; `default` and `""` mean the control plane without a revision. */
  readonly revision?: string | undefined;
  /** The Istio release of the configuration, such as `1.20`. Default: detected from the configuration and the values. */
  readonly istioVersion?: string | undefined;
  /** Whether proxies are native sidecars. Default: the environment variable ENABLE_NATIVE_SIDECARS. */
  readonly nativeSidecars?: NativeOption | undefined;
  /** `ISTIO_META_CLUSTER_ID` and `ISTIO_META_NETWORK` for the proxy. They override the values. */
  readonly proxyEnvs?: ProxyEnvs | undefined;
  /** The user names the manifests on the command line, so the policy `disabled` does not apply. */
  readonly byHand: boolean;
  /** Parse non-default templates only when a pod selects them. Errors in unused templates are then not found. */
  readonly parseWhenAsked?: boolean | undefined;
  readonly env: (name: string) => string | undefined;
  /** Default: templates see only the variables that Istio's templates read. */
  readonly templateEnv?: TemplateEnv | undefined;
  readonly now: () => Date;
}

/** A configuration with parsed templates, in either form. */
export type LoadedConfig = ModernConfig | LegacyConfig & { readonly legacy: Legacy };

/** A configuration ready to inject. */
export interface Injector {
  readonly config: LoadedConfig;
  readonly values: ValueMap;
  /** Minor version of the Istio release, for a configuration with `templates`. */
  readonly minor: number;
  readonly mesh: MeshConfig;
  /** A ProxyConfig resource that selects the pod; it overrides the pod's `proxy.istio.io/config`. */
  readonly proxyOverlay?: ProxyConfig | undefined;
  /** Revision of the control plane; `""` for the control plane without a revision. */
  readonly revision: string;
  readonly nativeSidecars: boolean;
  /** Use native sidecars in pods that run to completion. */
  readonly nativeJobs: boolean;
  /** When the cluster's nodes decide about native sidecars. */
  readonly nodesAsked: NodesAsked;
  readonly proxyEnvs: ProxyEnvs;
  readonly byHand: boolean;
  readonly compliancePolicy: string;
  readonly proxyUid: number;
  readonly proxyGid: number;
  readonly env: (name: string) => string | undefined;
  /** Returns whether rendering has exceeded its time limit. Absent: no limit. */
  readonly isLate?: (() => boolean) | undefined;
  /** Notes about the configuration, printed to standard error. */
  readonly notes: readonly string[];
}

/** UID and GID of the proxy in Istio's images. */
const PROXY_ID = 1337;

/**
 * Parses and checks a configuration, and loads the code libraries that its templates need.
 * Throws a MeshError with file and field for an invalid configuration, values or mesh configuration.
 */
export async function loadInjector(options: InjectorOptions): Promise<Injector> {
  await loadLibraries(options.config.text, options.values?.text ?? "");
  return newInjector(options);
}

/** Does the same as `loadInjector`, but loads no libraries: template functions that need one fail during rendering. */
export function newInjector(options: InjectorOptions): Injector {
  const { env } = options;
  const values = readValues(options);
  const release = modernRelease({
    named: options.istioVersion,
    config: options.config.text,
    values: values ?? newMap(),
  });
  const config = readConfig(options, values, release.minor);
  const { native, isNative } = nativeOf(options);
  return {
    config,
    values: values ?? newMap(),
    minor: release.minor,
    mesh: readMesh(options.mesh, config, release.minor),
    revision: revisionName(options.revision),
    nativeSidecars: isNative,
    nativeJobs: options.nativeSidecars === "jobs",
    nodesAsked: nodesAsked(native, options.config.text),
    proxyEnvs: options.proxyEnvs ?? {},
    byHand: options.byHand,
    compliancePolicy: env("COMPLIANCE_POLICY") ?? "",
    proxyUid: PROXY_ID,
    proxyGid: PROXY_ID,
    env,
    notes: notes(config, options, { values, native, isUnknown: release.isUnknown }),
  };
}

/**
 * The native-sidecar setting. `isNative` applies unless the cluster's nodes override it. `native` says when they may;
 * it is `undefined` if the user's flag decides.
 */
function nativeOf({ nativeSidecars, env }: InjectorOptions) {
  if (nativeSidecars === "jobs") return { native: undefined, isNative: false };
  if (nativeSidecars === true || nativeSidecars === false) return { native: undefined, isNative: nativeSidecars };
  const native = nativeSetting(nativeSidecars ?? env("ENABLE_NATIVE_SIDECARS"));
  return { native, isNative: native.native };
}

/**
 * When the cluster's nodes decide about native sidecars. If the template does not read `.NativeSidecars`, it does not
 * support native sidecars, and only an explicit setting turns them on.
 */
function nodesAsked(setting: NativeSetting | undefined, config: string): NodesAsked {
  if (setting === undefined) return "never";
  return setting.nodes === "if-any" && !config.includes(".NativeSidecars") ? "never" : setting.nodes;
}

/** Parses the mesh configuration. Its defaults depend on the configuration's Istio release. */
function readMesh(mesh: Source | undefined, config: LoadedConfig, minor: number): MeshConfig {
  const era = config.form === "legacy" ? config.legacy.era : eraOf(minor);
  return parseMeshConfig(mesh?.text ?? "", mesh?.file ?? "", era);
}

function revisionName(revision = ""): string {
  return revision === "default" ? "" : revision;
}

function readConfig(options: InjectorOptions, values: ValueMap | undefined, minor: number): LoadedConfig {
  const { text, file } = options.config;
  const envOf = templateEnv(options.env, options.templateEnv);
  const worldOf = (template: string) => ({ env: envOf(template), now: options.now });
  const functions = (template: string) => templateFunctions(worldOf(template), minor);
  const config = parseConfig(text, file, { functions, whenAsked: options.parseWhenAsked });
  if (config.form === "modern") {
    checkValues(values ?? newMap(), options.values?.file ?? file);
    return config;
  }
  return {
    ...config,
    legacy: loadLegacy(config, { values, mesh: options.mesh?.text ?? "", file, world: worldOf("template") }),
  };
}

/** Parses the values from the user's file or the configuration's ConfigMap; `undefined` if neither contains values. */
function readValues({ values, config }: InjectorOptions): ValueMap | undefined {
  if (values !== undefined) return parseValues(values.text, values.file);
  const beside = textBesideConfig(config.text, config.file, "values");
  return beside === undefined ? undefined : parseValues(beside, `${config.file} (key "values")`);
}

function notes(
  config: LoadedConfig,
  options: InjectorOptions,
  { values, native, isUnknown }: {
    readonly values: ValueMap | undefined;
    readonly native: NativeSetting | undefined;
    readonly isUnknown: boolean;
  },
): readonly string[] {
  const lines: string[] = [];
  if (config.form === "legacy") {
    const { minor, because } = config.legacy.release;
    lines.push(`The configuration has the form of Istio 1.0 to 1.8 and is treated as Istio 1.${minor}: ${because}`);
    if (options.nativeSidecars === true) {
      lines.push("This configuration does not support native sidecars; the proxy is an ordinary container");
    }
  }
  if (config.form === "modern" && isUnknown) {
    lines.push(
      `The release of the configuration is unknown, so Istio 1.${LATEST} is assumed; set the release with --istio-version`,
    );
  }
  if (options.byHand && config.policy !== "enabled") {
    lines.push(
      `The configuration's policy is "${config.policy}", but manifests named on the command line are injected anyway`,
    );
  }
  if (native?.warning !== undefined) lines.push(native.warning);
  // Without values a template renders `<no value>` into fields.
  if (values === undefined && options.config.text.includes(".Values")) {
    lines.push("The configuration reads values, but no values are given; set a file with --values");
  }
  return lines;
}
