/** Loads an injector: its configuration is parsed and checked once, for any number of pods. */
import { templateFunctions } from "./render/functions/mod.ts";
import { eraOf, parseMeshConfig, type ProxyConfig } from "../istio/mod.ts";
import { newMap, type ValueMap } from "../base/value.ts";
import { loadLibraries } from "../golang/gotemplate/sprig/mod.ts";
import { type LegacyConfig, type ModernConfig, parseConfig, type Source, textBesideConfig } from "./config/config.ts";
import { type Legacy, loadLegacy } from "./legacy/load.ts";
import {
  type NativeChoice,
  nativeChoice,
  type NativeOption,
  type NativeSetting,
  nativeSetting,
} from "./decision/native.ts";
import type { PostContext } from "./postprocess/mod.ts";
import type { TemplateInput } from "./render/data.ts";
import { type TemplateEnv, templateEnv } from "./config/template_env.ts";
import { LATEST, modernRelease, namedRelease, refuseOtherForm } from "./config/release.ts";
import { checkValues, parseValues } from "./config/values.ts";

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
  readonly proxyEnvs?: Injector["proxyEnvs"] | undefined;
  /** The user names the manifests on the command line, so the policy `disabled` does not apply. */
  readonly byHand: boolean;
  /** Parse non-default templates only when a pod selects them. Errors in unused templates are then not found. */
  readonly parseWhenAsked?: boolean | undefined;
  readonly env: (name: string) => string | undefined;
  /** Default: templates see only the variables that Istio's templates read. */
  readonly templateEnv?: TemplateEnv | undefined;
  readonly now: () => Date;
}

export type LoadedConfig = ModernConfig | LegacyConfig & { readonly legacy: Legacy };

/** A configuration ready to inject. `mesh` is the configuration of the whole mesh, before annotations of pods. */
export interface Injector extends Omit<TemplateInput, "seen">, Pick<PostContext, "env" | "proxyEnvs"> {
  readonly config: LoadedConfig;
  /** A ProxyConfig resource that selects the pod; it overrides the pod's `proxy.istio.io/config`. */
  readonly proxyOverlay?: ProxyConfig | undefined;
  /** Use native sidecars in pods that run to completion. */
  readonly nativeJobs: boolean;
  readonly nodesAsked: NativeSetting["nodes"];
  readonly byHand: boolean;
  readonly notes: readonly string[];
}

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
  const { env, mesh, revision = "" } = options;
  const given = readValues(options);
  const values = given ?? newMap();
  const named = options.istioVersion === undefined ? undefined : namedRelease(options.istioVersion);
  const { minor, isUnknown } = modernRelease({ named, config: options.config.text, values });
  const config = readConfig(options, given, { named, minor });
  const native = nativeOf(options);
  // The defaults of the mesh configuration depend on the configuration's Istio release.
  const era = config.form === "legacy" ? config.legacy.era : eraOf(minor);
  return {
    config,
    values,
    minor,
    mesh: parseMeshConfig(mesh?.text ?? "", mesh?.file ?? "", era),
    revision: revision === "default" ? "" : revision,
    nativeSidecars: native.native,
    nativeJobs: native.jobs,
    nodesAsked: native.nodes,
    proxyEnvs: options.proxyEnvs ?? {},
    byHand: options.byHand,
    compliancePolicy: env("COMPLIANCE_POLICY") ?? "",
    proxyUid: PROXY_ID,
    proxyGid: PROXY_ID,
    env,
    notes: notes(config, options, { hasValues: given !== undefined, warning: native.warning, isUnknown }),
  };
}

/** Returns the user's choice, or the default of istiod. */
function nativeOf({ nativeSidecars, env, config }: InjectorOptions): NativeChoice {
  const setting = nativeChoice(nativeSidecars, env("ENABLE_NATIVE_SIDECARS")) ?? { ...nativeSetting(), jobs: false };
  // A template without `.NativeSidecars` does not support native sidecars, so only an explicit setting turns them on.
  const isSupported = setting.nodes !== "if-any" || config.text.includes(".NativeSidecars");
  return isSupported ? setting : { ...setting, nodes: "never" };
}

function readConfig(
  options: InjectorOptions,
  values: ValueMap | undefined,
  { named, minor }: { readonly named: number | undefined; readonly minor: number },
): LoadedConfig {
  const { text, file } = options.config;
  const envOf = templateEnv(options.env, options.templateEnv);
  const worldOf = (template: string) => ({ env: envOf(template), now: options.now });
  const functions = (template: string) => templateFunctions(worldOf(template), minor);
  const config = parseConfig(text, file, { functions, whenAsked: options.parseWhenAsked });
  refuseOtherForm(config.form, named);
  if (config.form === "modern") {
    checkValues(values ?? newMap(), options.values?.file ?? file);
    return config;
  }
  return {
    ...config,
    legacy: loadLegacy(config, { named, values, mesh: options.mesh?.text ?? "", file, world: worldOf("template") }),
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
  { hasValues, warning, isUnknown }: {
    readonly hasValues: boolean;
    readonly warning: string | undefined;
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
  if (warning !== undefined) lines.push(warning);
  // Without values a template renders `<no value>` into fields.
  if (!hasValues && options.config.text.includes(".Values")) {
    lines.push("The configuration reads values, but no values are given; set a file with --values");
  }
  return lines;
}
