/** One address in front of several replicas, as a Service: new connections go to ready replicas in turn. */

/** A replica. */
export interface Replica {
  readonly port: number;
  /** The port of `/ready`. */
  readonly plainPort: number;
}

export interface Balancer {
  readonly port: number;
  /** Replaces the replicas. Open connections stay. */
  use(replicas: readonly Replica[]): void;
  /** The port of the replica that got the newest open connection. */
  connected(): number | undefined;
  close(): Promise<void>;
}

/** Starts a balancer. It asks `/ready` before each connection, and skips a replica that does not answer. */
export function balance(): Balancer {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Map<Deno.TcpConn, number>();
  const passing = new Set<Promise<void>>();
  let replicas: readonly Replica[] = [];
  let turn = 0;
  const pass = async (outer: Deno.TcpConn) => {
    try {
      const inner = await nextReady();
      open.set(outer, inner.remoteAddr.port);
      await Promise.allSettled([
        outer.readable.pipeTo(inner.writable),
        inner.readable.pipeTo(outer.writable),
      ]);
    } catch {
      outer.close();
    } finally {
      open.delete(outer);
    }
  };
  const nextReady = async (): Promise<Deno.TcpConn> => {
    const first = turn++;
    for (let tried = 0; tried < replicas.length; tried++) {
      const replica = replicas[(first + tried) % replicas.length];
      const connection = replica === undefined ? undefined : await connectIfReady(replica).catch(() => undefined);
      if (connection !== undefined) return connection;
    }
    throw new Error("no replica is ready");
  };
  const accepting = (async () => {
    for await (const outer of listener) {
      const passed: Promise<void> = pass(outer).finally(() => passing.delete(passed));
      passing.add(passed);
    }
  })();
  return {
    port: listener.addr.port,
    use: (next) => void (replicas = next),
    connected: () => [...open.values()].at(-1),
    async close() {
      listener.close();
      await accepting.catch(() => {});
      for (const outer of open.keys()) {
        try {
          outer.close();
        } catch {
          // The other side has closed it.
        }
      }
      await Promise.all(passing);
    },
  };
}

async function connectIfReady({ port, plainPort }: Replica): Promise<Deno.TcpConn | undefined> {
  const response = await fetch(`http://127.0.0.1:${plainPort}/ready`);
  await response.body?.cancel();
  return response.ok ? await Deno.connect({ hostname: "127.0.0.1", port }) : undefined;
}
