/** Loads the injector's configuration and the serving certificate from files, and watches the files. */
import { oneAtATime } from "../../base/one_at_a_time.ts";
import { errorText } from "../../base/errors.ts";
import { type Logger, logText } from "../../platform/log.ts";
import type { Files, World } from "../../platform/world.ts";
import { checkPair, type PairNames } from "../../golang/x509/mod.ts";
import { configurationOf, type Source as ConfigurationText } from "../../inject/mod.ts";
import { type InjectorChoice, injectorOf } from "./injector_of.ts";
import type { CertificateSource, InjectorSource, Source } from "./source.ts";

/** Describes how to load a value from files. */
export interface Recipe<T> {
  /** Name of the value in messages, such as `configuration`. */
  readonly name: string;
  readonly paths: readonly string[];
  /** Reads the files and returns the value. Rejects with a `MeshError` if the value is unusable. */
  readonly make: () => Promise<T>;
}

/** Milliseconds between two polls of the files. A change takes effect when two polls find the same content. */
const POLL_EVERY = 1000;

/**
 * Loads a value from files, and reloads it after each change. If a new value is unusable, logs this once, reports it in
 * `problem`, and keeps the previous value. Rejects with a `MeshError` if the first value is unusable.
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
      log.error(logText(`Cannot use the new ${recipe.name}, keeping the previous one: ${state.problem}`));
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

/** Paths of the configuration files. Default for each: the built-in text. */
export interface InjectorFiles extends InjectorChoice {
  readonly config: string | undefined;
  readonly values: string | undefined;
  readonly mesh: string | undefined;
}

/** Maximum size of a configuration file. Istio's values have a few KB, its injector configuration about 100 KB. */
const MAX_CONFIGURATION_BYTES = 16 * 1024 * 1024;

/** Loads the injector from files, and watches these. Rejects with a `MeshError` if the first configuration is unusable. */
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

/** Maximum size of a certificate file. A certificate chain has a few KB. */
const MAX_CERTIFICATE_BYTES = 1024 * 1024;

/** Loads the certificate from two PEM files, and watches these. Rejects with a `MeshError` if the first pair is unusable. */
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
