import { MeshError } from "../base/errors.ts";
import type { Values } from "../golang/flags/mod.ts";
import type { World } from "../platform/world.ts";
import type { NativeOption, Source } from "../inject/mod.ts";
import type { CONFIGURATION } from "./shared_flags.ts";

/** Maximum size of a configuration file. A values file of Istio's chart has a few KB, its injector configuration about 100 KB. */
const MAX_CONFIG_BYTES = 16 * 1024 * 1024;

type Files = Values<{ readonly "": typeof CONFIGURATION }>;

/**
 * Reads the files of a configuration; `undefined` for each file that the user did not name. Throws a MeshError for an
 * unreadable file.
 */
export async function readConfiguration(world: World, { injectConfig, values, meshConfig }: Files) {
  const [config, valuesSource, mesh] = await Promise.all(
    [injectConfig, values, meshConfig].map((path) => readSource(world, path)),
  );
  return { config, values: valuesSource, mesh };
}

/** Converts the value of `--native-sidecars`. If the flag is not given, the variable ENABLE_NATIVE_SIDECARS decides. */
export function nativeOption(text: "true" | "false" | "auto" | "jobs" | undefined): NativeOption | undefined {
  if (text === "true") return true;
  return text === "false" ? false : text;
}

async function readSource(world: World, path: string | undefined): Promise<Source | undefined> {
  if (path === undefined) return undefined;
  if (path === "") throw new MeshError("The name of a configuration file is empty");
  return { text: await world.files.readText(path, MAX_CONFIG_BYTES), file: path };
}
