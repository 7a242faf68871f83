/**
 * fast-check with a fixed seed, so that every run of a commit gives the same result. `MESH_SEED=NUMBER` sets a
 * different seed; `MESH_SEED=random` sets a new one for each run.
 */
import fc from "fast-check";

const asked = Deno.env.get("MESH_SEED") ?? "20261121";
if (asked !== "random") fc.configureGlobal({ seed: Number(asked) });

export { fc };
