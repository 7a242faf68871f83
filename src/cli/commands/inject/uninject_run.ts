import type { World } from "../../../platform/world.ts";
import { openManifestOutput } from "../../manifests/manifest_output.ts";
import { changeManifests, permissionsFor, readManifestFlags } from "../../manifests/manifests.ts";
import type { ManifestFlags } from "../../shared_flags.ts";

/** Runs `uninject`. Returns exit code 1 if a resource failed. */
export async function runUninject(world: World, { flags }: { readonly flags: ManifestFlags }): Promise<number> {
  const inject = await import("../../../inject/mod.ts");
  const read = await readManifestFlags(world, flags, inject);
  using output = await openManifestOutput(world, flags, read.target, read.inputs);
  world.permissions.keepOnly(permissionsFor(flags, read.target));
  const change = inject.uninjection;
  return await changeManifests(world, flags, { ...read, output, change, done: "uninjected", notes: [], warnings: [] });
}
