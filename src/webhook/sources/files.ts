/** Loads the injector's configuration and the serving certificate from files, and watches the files. */
import { oneAtATime } from "../../base/one_at_a_time.ts";
import type { Logger } from "../../platform/log.ts";
import type { Files, World } from "../../platform/world.ts";
import { checkPair, type PairNames } from "../../golang/x509/mod.ts";
import type { Source as ConfigurationText } from "../../inject/mod.ts";
import { type InjectorChoice, injectorOf } from "./injector_of.ts";
import { type CertificateSource, type InjectorSource, type Recipe, renewable, type Source } from "./source.ts";

/** Milliseconds between two polls of the files. A change takes effect when two polls find the same content. */
const POLL_EVERY = 1000;

/** Makes a value from files, and a new value after each change of the files. Errors: see `renewable`. */
export async function watchFiles<T>(
  files: Files,
  log: Logger,
  { paths, ...recipe }: Recipe<T> & { readonly paths: readonly string[] },
): Promise<Source<T>> {
  // Watch before the first read, so that no change is missed.
  const { promise: ready, resolve } = Promise.withResolvers<() => Promise<void>>();
  const changed = oneAtATime(async () => await (await ready)());
  const close = paths.length === 0 ? () => {} : files.watch(paths, POLL_EVERY, changed);
  try {
    const { renew, ...source } = await renewable(log, recipe);
    resolve(renew);
    return { ...source, close };
  } catch (error) {
    close();
    throw error;
  }
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
  const make = async () => {
    const [config, values, mesh] = await Promise.all([read(given.config), read(given.values), read(given.mesh)]);
    return await injectorOf({ config, values, mesh }, given, world, log);
  };
  const paths = [given.config, given.values, given.mesh].filter((path) => path !== undefined);
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
