/**
 * fast-check with one seed, so that a run is a verdict and the same everywhere: a failure is the change's, not the dice's.
 * `MESH_SEED=NUMBER` takes another seed and `MESH_SEED=random` a new one for each run, to look further.
 */
import fc from "fast-check";

const asked = Deno.env.get("MESH_SEED") ?? "20261121";
if (asked !== "random") fc.configureGlobal({ seed: Number(asked) });

export { fc };
