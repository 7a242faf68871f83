/** Injectors and the texts that they were made from: a worker makes its own injector from the texts. */
import type { World } from "../../platform/world.ts";
import { configurationOf, type Injector, loadInjector } from "../../inject/mod.ts";

/** The texts of an injector. */
export interface InjectorTexts extends ReturnType<typeof configurationOf> {
  readonly revision: string;
  /** Names of variables that templates see besides Istio's own. */
  readonly templateEnv?: readonly string[] | undefined;
}

const texts = new WeakMap<Injector, InjectorTexts>();

/** The injector for new pods; `note` hears of variables that templates do not see. Errors: a `MeshError` for unusable texts. */
export async function injectorOf(
  from: InjectorTexts,
  { env, clock }: Pick<World, "env" | "clock">,
  note?: (text: string) => void,
): Promise<Injector> {
  const templateEnv = { names: from.templateEnv ?? [], ...note === undefined ? {} : { note } };
  const options = { byHand: false, env: (name: string) => env.get(name), now: () => clock.now(), templateEnv };
  const injector = await loadInjector({ ...from, ...options });
  texts.set(injector, from);
  return injector;
}

/** The texts that `injectorOf` made an injector from. */
export function textsOf(injector: Injector): InjectorTexts {
  const known = texts.get(injector);
  if (known === undefined) throw new TypeError("the injector was not made by injectorOf");
  return known;
}
