/**
 * A server that restarts after a failure. Deno's HTTP server (2.6 to 2.9) stops listening permanently when it cannot
 * accept a connection, for example because too many files are open. Once the last open connection has closed, the
 * stopped server throws an error, which would end the process.
 */
import { watchListener } from "../../linux/socket_options.ts";
import { reasonOf } from "../../runtime_errors.ts";

export interface LastingServer<Address> {
  readonly address: Address;
  /** Stops listening; resolves when the requests in flight are answered. */
  shutdown(): Promise<void>;
}

interface Started<Address extends Deno.Addr> {
  readonly server: Deno.HttpServer<Address>;
  /** Aborted to close the connections of a failed server. */
  readonly failed: AbortController;
}

/** Milliseconds before a failed server restarts. */
const RETRY_AFTER = 100;
/** Milliseconds between two checks of the listener (Linux). */
const LOOK_EVERY = 1000;

/**
 * Starts a server. After each failure, closes the server's connections and restarts the server on the same address,
 * which is passed to `start`. Throws the error of the first start. `failure` gets the reason for each failure.
 */
export function serveLasting<Address extends Deno.Addr>(
  start: (signal: AbortSignal, before: Address | undefined) => Deno.HttpServer<Address>,
  failure: (reason: string) => void = () => {},
): LastingServer<Address> {
  const stop = new AbortController();
  const begin = (before: Address | undefined): Started<Address> => {
    const failed = new AbortController();
    return { server: start(failed.signal, before), failed };
  };
  let current: Started<Address> | undefined = begin(undefined);
  const { addr: address } = current.server;
  const lasting = last();
  return {
    address,
    async shutdown() {
      stop.abort();
      await current?.server.shutdown();
      await lasting;
    },
  };

  async function last(): Promise<void> {
    const watch = watchListener(address);
    const looking = setInterval(() => watch.isThere() === false && closeAll(), LOOK_EVERY);
    while (current !== undefined) {
      const { server, failed } = current;
      const error = await server.finished.then(() => undefined, (error: unknown) => error);
      if (error === undefined && !failed.signal.aborted) break;
      failed.abort();
      current = undefined;
      failure(reasonOf(error ?? "the server no longer listens").replace(/^Error: /, ""));
      current = await again();
    }
    clearInterval(looking);
    watch.close();
  }

  /** Closes the failed server's connections, after which the server reports the failure. */
  function closeAll(): void {
    if (!stop.signal.aborted) current?.failed.abort();
  }

  async function again(): Promise<Started<Address> | undefined> {
    while (!stop.signal.aborted) {
      await new Promise((resolve) => setTimeout(resolve, RETRY_AFTER));
      if (stop.signal.aborted) return undefined;
      try {
        return begin(address);
      } catch {
        // The restart failed for the same reason; retry later.
      }
    }
    return undefined;
  }
}
