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
 * Loads the injector for new pods. `note` is called for each hidden variable that a template reads. Errors: a `MeshError` for
 * unusable texts.
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
