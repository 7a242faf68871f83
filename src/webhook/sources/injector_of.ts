import { type Logger, logText } from "../../platform/log.ts";
import type { World } from "../../platform/world.ts";
import { configurationOf, type GivenConfiguration, type Injector, loadInjector } from "../../inject/mod.ts";

/** Settings of the injector besides the configuration texts. */
export interface InjectorChoice {
  readonly revision: string;
  /** The Istio release of the configuration, such as `1.20`. */
  readonly istioVersion?: string | undefined;
  /** Environment variables that templates can read in addition to Istio's own. */
  readonly templateEnv?: readonly string[] | undefined;
}

/**
 * Loads the injector for new pods. Logs its notes, and each environment variable that is set but hidden from a template
 * that reads it. Rejects with a `MeshError` if the configuration is unusable.
 */
export async function injectorOf(
  given: Pick<GivenConfiguration, "config" | "values" | "mesh">,
  { revision, istioVersion, templateEnv: names = [] }: InjectorChoice,
  { env, clock }: Pick<World, "env" | "clock">,
  log: Logger,
): Promise<Injector> {
  const note = (text: string) => log.warn(logText(text));
  const injector = await loadInjector({
    revision,
    ...configurationOf({ ...given, revision }),
    istioVersion,
    templateEnv: { names, note },
    byHand: false,
    env: (name) => env.get(name),
    now: () => clock.now(),
  });
  injector.notes.forEach(note);
  return injector;
}
