/**
 * Ports below the kernel's ephemeral range (ip_local_port_range, from 32768). The kernel could otherwise use the port
 * for a connection before the test's server listens on it.
 */
const [FIRST, COUNT] = [20_000, 12_000];
/** The number of ports that a process owns. It listens on the first of them as long as it runs. */
const BLOCK = 60;

const block = ownBlock();
let next = 0;

/** Returns a free loopback port from the block of this process. */
export function freePort(): number {
  for (let tries = 1; tries < BLOCK; tries++) {
    const port = block + 1 + next++ % (BLOCK - 1);
    const listener = listen(port);
    listener?.close();
    if (listener !== undefined) return port;
  }
  throw new Error(`No port from ${block + 1} to ${block + BLOCK - 1} is free`);
}

/** Returns the first port of a block that no other process owns. */
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
