/**
 * The environment variables that templates see through sprig's `env` and `expandenv`. A configuration may be somebody else's:
 * it must not copy the secrets of a CI job into a manifest.
 */

/** The variables that templates of Istio's releases read, in istio-discovery/files/injection-template.yaml. */
const OF_ISTIO = [
  "ENABLE_LEGACY_FSGROUP_INJECTION", // since 1.9.0
  "PILOT_ENABLE_INBOUND_PASSTHROUGH", // since 1.10.0
  "ENABLE_NATIVE_SIDECARS", // since 1.19.0
];

type Environment = (name: string) => string | undefined;

/** The variables that templates see besides Istio's. */
export interface TemplateEnv {
  readonly names: readonly string[];
  /** The flag or the field that has the names. */
  readonly setBy?: string;
  /** Called once for each set variable that a template reads but does not see. */
  readonly note?: (text: string) => void;
}

/** The environment of a template, by its name: only Istio's variables and the added ones are set. */
export function templateEnv(
  env: Environment,
  { names, setBy = "--template-env", note }: TemplateEnv = { names: [] },
): (template: string) => Environment {
  const noted = new Set<string>();
  return (template) => (name) => {
    if (OF_ISTIO.includes(name) || names.includes(name)) return env(name);
    if (note === undefined || env(name) === undefined) return undefined;
    const text = `The template "${template}" reads the environment variable "${name}", which templates do not see; ` +
      `${setBy} adds it`;
    if (!noted.has(text)) note(text);
    noted.add(text);
    return undefined;
  };
}
