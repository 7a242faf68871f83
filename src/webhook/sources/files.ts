/** Sources in files, which are watched: the injector's configuration and the serving certificate. */
import { oneAtATime } from "../../base/one_at_a_time.ts";
import { errorText } from "../../base/errors.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { Files, World } from "../../platform/world.ts";
import { checkPair, type PairNames } from "../../golang/x509/mod.ts";
import { configurationOf, type Source as ConfigurationText } from "../../inject/mod.ts";
import { type InjectorChoice, injectorOf } from "./injector_of.ts";
import type { CertificateSource, InjectorSource, Source } from "./source.ts";

/** How a value is made from files. */
export interface Recipe<T> {
  /** The name in messages, such as `configuration`. */
  readonly name: string;
  readonly paths: readonly string[];
  /** Reads the files. Throws a `MeshError` for an unusable value. */
  readonly make: () => Promise<T>;
}

/** Milliseconds between two polls of the files. A change counts when two polls find the same content. */
const POLL_EVERY = 1000;

/**
 * Makes a value from files, and again after each change. An unusable value is logged once and reported by `problem`, and the
 * previous value stays in force. Rejects with a `MeshError` if the first value is unusable.
 */
export async function watchFiles<T>(files: Files, log: Logger, recipe: Recipe<T>): Promise<Source<T>> {
  const handlers: (() => void)[] = [];
  const state: { problem: string | undefined } = { problem: undefined };
  // Watch before the first read, so that no change is missed.
  const loop = oneAtATime(() => renew());
  const stop = recipe.paths.length === 0 ? () => {} : files.watch(recipe.paths, POLL_EVERY, loop);
  let current: T;
  try {
    current = await recipe.make();
  } catch (error) {
    stop();
    throw error;
  }
  async function renew(): Promise<void> {
    try {
      current = await recipe.make();
      state.problem = undefined;
      log.info(`The new ${recipe.name} is in force`);
    } catch (error) {
      state.problem = errorText(error);
      log.error(logText(`Cannot use the new ${recipe.name}, the previous one stays in force: ${state.problem}`));
    }
    handlers.forEach((handler) => handler());
  }
  return {
    current: () => current,
    problem: () => state.problem,
    onChange: (handler) => void handlers.push(handler),
    close: stop,
  };
}

/** The files of the configuration; the built-in one for each that is absent. */
export interface InjectorFiles extends InjectorChoice {
  readonly config: string | undefined;
  readonly values: string | undefined;
  readonly mesh: string | undefined;
}

/** Istio's values file has some KB, its injector configuration some 100 KB. */
const MAX_CONFIGURATION_BYTES = 16 * 1024 * 1024;

/** The injector of a configuration in files. Rejects with a `MeshError` if the first configuration is unusable. */
export async function injectorFromFiles(world: World, log: Logger, given: InjectorFiles): Promise<InjectorSource> {
  const read = async (path: string | undefined): Promise<ConfigurationText | undefined> =>
    path === undefined ? undefined : { text: await world.files.readText(path, MAX_CONFIGURATION_BYTES), file: path };
  const paths = [given.config, given.values, given.mesh].filter((path) => path !== undefined);
  const make = async () => {
    const [config, values, mesh] = await Promise.all([read(given.config), read(given.values), read(given.mesh)]);
    const { revision, istioVersion, templateEnv } = given;
    const texts = { revision, istioVersion, templateEnv, ...configurationOf({ config, values, mesh, revision }) };
    const note = (text: string) => log.warn(logText(text));
    const injector = await injectorOf(texts, world, note);
    injector.notes.forEach(note);
    return injector;
  };
  return await watchFiles(world.files, log, { name: "configuration", paths, make });
}

/** A certificate chain has some KB. */
const MAX_CERTIFICATE_BYTES = 1024 * 1024;

/** The certificate in two PEM files. Rejects with a `MeshError` if the first one is unusable. */
export async function certificateFromFiles(files: Files, log: Logger, paths: PairNames): Promise<CertificateSource> {
  const make = async () => {
    const [certificate, key] = await Promise.all([
      files.readText(paths.certificate, MAX_CERTIFICATE_BYTES),
      files.readText(paths.key, MAX_CERTIFICATE_BYTES),
    ]);
    await checkPair({ certificate, key }, paths);
    return { certificate, key };
  };
  const recipe = { name: "certificate", paths: [paths.certificate, paths.key], make };
  return { ...await watchFiles(files, log, recipe), ready: Promise.resolve() };
}
