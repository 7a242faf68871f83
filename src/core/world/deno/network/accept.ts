/** Connections of a listener, one after the other. */

/** What can be listened on: TCP ports and Unix sockets. */
interface Listener<C> {
  accept(): Promise<C>;
}

/** How long to wait when no connection can be accepted, as with too many open files, in milliseconds. */
const BREATH = 100;

/** Gives away connections until the listener is closed. */
export async function acceptAll<C>(listener: Listener<C>, take: (connection: C) => void): Promise<void> {
  for (;;) {
    try {
      take(await listener.accept());
    } catch (error) {
      if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
      await new Promise((resolve) => setTimeout(resolve, BREATH));
    }
  }
}
