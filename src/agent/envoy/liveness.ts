import type { World } from "../../core/world/world.ts";
import type { EnvoyAdmin } from "./admin.ts";

const FIRST_WAIT = 50;
/** While it is not known to be live, no end drains it: what is served in the meantime would be cut off. */
const LONGEST_WAIT = 250;
/** Envoy answers within its first second: one that never does has its admin interface elsewhere. */
const SILENCE = 60_000;

/**
 * Waits until an epoch is live. `true` as well after a minute in which the admin interface has never answered: a drain
 * then waits its time at least. `false` if the wait was ended.
 */
export async function untilLive(world: World, admin: EnvoyAdmin, epoch: number, end: AbortSignal): Promise<boolean> {
  const start = world.clock.monotonic();
  let answered = false;
  for (let wait = FIRST_WAIT; !end.aborted; wait = Math.min(LONGEST_WAIT, wait * 1.5)) {
    try {
      const live = await admin.isLive(epoch);
      answered = true;
      if (live) return !end.aborted;
    } catch {
      if (!answered && world.clock.monotonic() - start > SILENCE) return !end.aborted;
    }
    await world.clock.sleep(wait, end);
  }
  return false;
}
