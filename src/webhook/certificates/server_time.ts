/** Reads the API server's time, because the API server verifies certificates by its own clock. */
import type { KubeConnection } from "../../kube/client/mod.ts";
import type { Clock } from "../../platform/world.ts";

/**
 * Returns the API server's time, to the second (RFC 9110, Date), or this machine's time if the server does not send one. With a
 * wrong local clock, certificates could be not valid yet, or be renewed too early.
 */
export async function serverTime(api: Pick<KubeConnection, "raw">, clock: Pick<Clock, "now">): Promise<Date> {
  // Ignore a failure: if the server is unreachable, the next request fails with a better message.
  const answer = await api.raw("/version").catch(() => undefined);
  const time = Date.parse(answer?.date ?? "");
  return Number.isNaN(time) ? clock.now() : new Date(time);
}
