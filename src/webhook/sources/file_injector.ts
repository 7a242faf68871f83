import { type Logger, logText } from "../../core/log.ts";
import type { Files, World } from "../../core/world/world.ts";
import { configurationOf, type Source } from "../../inject/mod.ts";
import { injectorOf } from "./injector_of.ts";
import type { InjectorSource } from "./injector_source.ts";
import { keep } from "./files.ts";

/** Files of the configuration; the built-in one where none is given. */
export interface InjectorFiles {
  readonly config: string | undefined;
  readonly values: string | undefined;
  readonly mesh: string | undefined;
  readonly revision: string;
}

/** A values file of Istio's chart is some KB, its injector configuration some 100 KB. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * The injector of a configuration in files, made anew when they change. Rejects with a `MeshError` if it cannot be made
 * from the start; a later configuration that is wrong leaves the one before in force.
 */
export async function injectorFromFiles(world: World, log: Logger, given: InjectorFiles): Promise<InjectorSource> {
  const { files } = world;
  const paths = [given.config, given.values, given.mesh].filter((path) => path !== undefined);
  const make = async () => {
    const [config, values, mesh] = await Promise.all([
      source(files, given.config),
      source(files, given.values),
      source(files, given.mesh),
    ]);
    const injector = await injectorOf(
      { ...configurationOf({ config, values, mesh }), revision: given.revision },
      world,
    );
    for (const note of injector.notes) log.warn(logText(note));
    return injector;
  };
  return await keep(files, log, { name: "configuration", paths, make });
}

async function source(files: Files, path: string | undefined): Promise<Source | undefined> {
  return path === undefined ? undefined : { text: await files.readText(path, MAX_BYTES), file: path };
}
