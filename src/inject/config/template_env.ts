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

/** A call with a constant name. */
const CALL = /\benv "([A-Za-z_]\w*)"/g;

type Environment = (name: string) => string | undefined;

/** The environment for templates: Istio's variables and the added ones. Others are not set. */
export function templateEnv(env: Environment, added: readonly string[] = []): Environment {
  return (name) => Object.hasOwn(OF_ISTIO, name) || added.includes(name) ? env(name) : undefined;
}

/**
 * A note for each variable that is set, that the text of a configuration reads by a constant name, and that templates do not see.
 * `added` is `undefined` for a command that has no flag to add one.
 */
export function hiddenEnvNotes(
  text: string,
  env: Environment,
  added: readonly string[] | undefined,
): readonly string[] {
  const seen = templateEnv(env, added);
  const hint = (name: string) => added === undefined ? "" : `; --template-env ${name} shows it to them`;
  const names = new Set([...text.matchAll(CALL)].map(([, name = ""]) => name));
  return [...names].filter((name) => env(name) !== undefined && seen(name) === undefined).map((name) =>
    `A template reads the environment variable "${name}", which templates do not see${hint(name)}`
  );
}
