import type { World } from "../../../platform/world.ts";
import { openManifestOutput, removeLeftovers } from "../../manifests/manifest_output.ts";
import { changeManifests, manifestInputs, permissionsFor, templatePathsOf } from "../../manifests/manifests.ts";
import { outputIn } from "../../manifests/output.ts";
import type { ManifestFlags } from "../../shared_flags.ts";

/** Runs `uninject`. Returns exit code 1 if a resource failed. */
export async function runUninject(world: World, { flags }: { readonly flags: ManifestFlags }): Promise<number> {
  const inject = await import("../../../inject/mod.ts");
  const target = await outputIn(world, flags.output);
  const templatePaths = templatePathsOf(flags, inject);
  const inputs = await manifestInputs(world, flags);
  removeLeftovers(world, flags, target, inputs);
  using output = await openManifestOutput(world, flags, target, inputs);
  world.permissions.keepOnly(permissionsFor(flags, target));
  return await changeManifests(world, flags, {
    change: inject.uninjection,
    done: "uninjected",
    notes: [],
    warnings: [],
    ...{ inputs, target, output, templatePaths, inject },
  });
}
