/**
 * Ports below those that the kernel hands out by itself (ip_local_port_range begins at 32768): a port from there could be
 * given twice, or to a connection that anybody opens before the server of the test has it.
 */
const [FIRST, COUNT] = [20_000, 12_000];
/** Each process has a block of its own: it listens on the block's first port as long as it runs. */
const BLOCK = 60;

const block = ownBlock();
let next = 0;

/** A port of loopback on which nothing listens, and which no test of another process gets. */
export function freePort(): number {
  for (let tries = 1; tries < BLOCK; tries++) {
    const port = block + 1 + next++ % (BLOCK - 1);
    const listener = listen(port);
    listener?.close();
    if (listener !== undefined) return port;
  }
  throw new Error(`No port from ${block + 1} to ${block + BLOCK - 1} is free`);
}

/** The first port of a block that nobody has. */
function ownBlock(): number {
  const start = Math.floor(Math.random() * COUNT / BLOCK);
  for (let tries = 0; tries < COUNT / BLOCK; tries++) {
    const port = FIRST + (start + tries) % (COUNT / BLOCK) * BLOCK;
    const listener = listen(port);
    listener?.unref();
    if (listener !== undefined) return port;
  }
  throw new Error(`No port from ${FIRST} to ${FIRST + COUNT} is free`);
}

function listen(port: number): Deno.TcpListener | undefined {
  try {
    return Deno.listen({ hostname: "127.0.0.1", port });
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return undefined;
    throw error;
  }
}
