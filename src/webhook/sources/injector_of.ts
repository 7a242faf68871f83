import type { World } from "../../platform/world.ts";
import { configurationOf, type Injector, loadInjector } from "../../inject/mod.ts";

/** How a configuration is used. */
export interface InjectorChoice {
  readonly revision: string;
  /** The release that the configuration is from, such as `1.20`. */
  readonly istioVersion?: string | undefined;
  /** Names of variables that templates see besides Istio's own. */
  readonly templateEnv?: readonly string[] | undefined;
}

/**
 * The injector for new pods. `note` gets a text for each variable that templates do not see. Errors: a `MeshError` for
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
