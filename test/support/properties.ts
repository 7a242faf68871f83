/**
 * fast-check with a fixed seed: every run of a commit gives the same result.
 * `MESH_SEED=NUMBER` sets another seed, `MESH_SEED=random` a new one for each run.
 */
import fc from "fast-check";

const asked = Deno.env.get("MESH_SEED") ?? "20261121";
if (asked !== "random") fc.configureGlobal({ seed: Number(asked) });

export { fc };
