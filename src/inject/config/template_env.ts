/**
 * The environment variables that templates see through sprig's `env` and `expandenv`. A configuration may be somebody else's:
 * it must not copy the secrets of a CI job into a manifest.
 */

/** What templates of Istio's releases read, with the first release that does. */
const OF_ISTIO: Readonly<Record<string, string>> = {
  ENABLE_LEGACY_FSGROUP_INJECTION:
    "1.9.0, manifests/charts/istio-control/istio-discovery/files/injection-template.yaml",
  PILOT_ENABLE_INBOUND_PASSTHROUGH: "1.10.0, the same file",
  ENABLE_NATIVE_SIDECARS: "1.19.0, the same file",
};

type Environment = (name: string) => string | undefined;

/** What templates see besides Istio's variables. */
export interface TemplateEnv {
  readonly names: readonly string[];
  /** The flag or the field that has the names. */
  readonly setBy?: string;
  /** Hears once of each variable that is set, that a template reads, and that it does not see. */
  readonly note?: (text: string) => void;
}

/** The environment of each template, by the template's name: Istio's variables and the added ones. Others are not set. */
export function templateEnv(
  env: Environment,
  { names, setBy = "--template-env", note }: TemplateEnv = { names: [] },
): (template: string) => Environment {
  const noted = new Set<string>();
  return (template) => (name) => {
    if (Object.hasOwn(OF_ISTIO, name) || names.includes(name)) return env(name);
    if (note === undefined || env(name) === undefined) return undefined;
    const text = `The template "${template}" reads the environment variable "${name}", which templates do not see; ` +
      `${setBy} adds it`;
    if (!noted.has(text)) note(text);
    noted.add(text);
    return undefined;
  };
}
