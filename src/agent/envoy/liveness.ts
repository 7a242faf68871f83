import type { World } from "../../platform/world.ts";
import type { EnvoyAdmin } from "./admin.ts";

const FIRST_DELAY = 50;
/** A drain cuts requests off until Envoy is known to be live. */
const MAX_DELAY = 250;
/** Without any answer the admin interface is elsewhere. */
const NO_ANSWER_TIMEOUT = 60_000;

/**
 * Waits until an epoch is live. Also `true` after a minute without any answer of the admin interface: a drain then
 * waits its full time. `false` if aborted.
 */
export async function untilLive(world: World, admin: EnvoyAdmin, epoch: number, end: AbortSignal): Promise<boolean> {
  const start = world.clock.monotonic();
  let answered = false;
  for (let wait = FIRST_DELAY; !end.aborted; wait = Math.min(MAX_DELAY, wait * 1.5)) {
    try {
      const live = await admin.isLive(epoch);
      answered = true;
      if (live) return !end.aborted;
    } catch {
      // No answer yet: Envoy does not listen, or the request took too long.
      if (!answered && world.clock.monotonic() - start > NO_ANSWER_TIMEOUT) return !end.aborted;
    }
    await world.clock.sleep(wait, end);
  }
  return false;
}
