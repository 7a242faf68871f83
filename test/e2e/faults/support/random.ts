/** Random numbers from a seed, which a failing test names: mulberry32. */

/** A number from 0 to 1 on each call. */
export type Random = () => number;

/** The seed in `MESH_SEED`, else one from the current time. */
export function seedOfRun(): number {
  const given = Number(Deno.env.get("MESH_SEED") ?? "");
  return given > 0 ? given : Date.now() % 1_000_000_000;
}

/** The numbers of a seed, the same on each run. */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
