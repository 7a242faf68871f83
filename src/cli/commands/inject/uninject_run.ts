import type { World } from "../../../platform/world.ts";
import {
  changeManifests,
  manifestInputs,
  openedUnlessSmall,
  permissionsFor,
  preparedManifests,
  templatePathsOf,
} from "../../manifests/manifests.ts";
import { outputTarget } from "../../manifests/output.ts";
import type { Input } from "../../command.ts";
import type { MANIFESTS } from "../../shared_flags.ts";

type UninjectInput = Input<{ readonly "Manifests": typeof MANIFESTS }>;

/** Runs `uninject`; returns the exit code: 1 if any resource failed. */
export async function runUninject(world: World, { flags }: UninjectInput): Promise<number> {
  const target = outputTarget(flags.output);
  const room = await import("../../../inject/mod.ts");
  const prepared = await preparedManifests(world, flags, target);
  const scratch = openedUnlessSmall(world, flags, target, prepared);
  world.permissions.keepOnly(permissionsFor(flags, target));
  return await changeManifests(world, flags, {
    inputs: await manifestInputs(world, flags, prepared),
    change: room.uninjection,
    done: "uninjected",
    notes: [],
    warnings: [],
    target,
    scratch,
    resourceDone: prepared.resourceDone,
    templatePaths: templatePathsOf(flags, room),
    room,
  });
}
