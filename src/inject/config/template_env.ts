/**
 * The environment variables that templates can read with sprig's `env` and `expandenv`. A configuration from a third party
 * must not copy secrets of a CI job into a manifest.
 */

/** The variables that Istio's own templates read (istio-discovery/files/injection-template.yaml). */
const OF_ISTIO = [
  "ENABLE_LEGACY_FSGROUP_INJECTION", // since 1.9.0
  "PILOT_ENABLE_INBOUND_PASSTHROUGH", // since 1.10.0
  "ENABLE_NATIVE_SIDECARS", // since 1.19.0
];

type Environment = (name: string) => string | undefined;

/** Variables that templates can read in addition to Istio's. */
export interface TemplateEnv {
  readonly names: readonly string[];
  /** The flag or field that sets `names`. It is shown in the note. */
  readonly setBy?: string;
  /** Called once for each set variable that a template tries to read without permission. */
  readonly note?: (text: string) => void;
}

/** Returns the environment for a template name. Only Istio's variables and `names` are visible. */
export function templateEnv(
  env: Environment,
  { names, setBy = "--template-env", note }: TemplateEnv = { names: [] },
): (template: string) => Environment {
  const noted = new Set<string>();
  return (template) => (name) => {
    if (OF_ISTIO.includes(name) || names.includes(name)) return env(name);
    if (note === undefined || env(name) === undefined) return undefined;
    const text = `The template "${template}" reads the environment variable "${name}", which templates cannot read; ` +
      `add it with ${setBy}`;
    if (!noted.has(text)) note(text);
    noted.add(text);
    return undefined;
  };
}
