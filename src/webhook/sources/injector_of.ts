import type { World } from "../../platform/world.ts";
import { configurationOf, type Injector, loadInjector } from "../../inject/mod.ts";

/** Settings of the injector besides the configuration texts. */
export interface InjectorChoice {
  readonly revision: string;
  /** The Istio release of the configuration, such as `1.20`. */
  readonly istioVersion?: string | undefined;
  /** Environment variables that templates can read in addition to Istio's own. */
  readonly templateEnv?: readonly string[] | undefined;
}

/**
 * Loads the injector for new pods. Calls `note` for each environment variable that is set but hidden from a template
 * that reads it. Rejects with a `MeshError` if the configuration is unusable.
 */
export async function injectorOf(
  texts: ReturnType<typeof configurationOf> & InjectorChoice,
  { env, clock }: Pick<World, "env" | "clock">,
  note?: (text: string) => void,
): Promise<Injector> {
  const templateEnv = { names: texts.templateEnv ?? [], ...note === undefined ? {} : { note } };
  const options = { byHand: false, env: (name: string) => env.get(name), now: () => clock.now(), templateEnv };
  return await loadInjector({ ...texts, ...options });
}
