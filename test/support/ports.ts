/**
 * Ports below those that the kernel hands out by itself (ip_local_port_range begins at 32768): a port from there could be
 * given twice, or to a connection that anybody opens before the server of the test has it.
 */
const [FIRST, COUNT] = [20_000, 10_000];
let next = Math.floor(Math.random() * COUNT);

/** A port of loopback on which nothing listens; never the same twice in a test file. */
export function freePort(): number {
  for (let tries = 0; tries < COUNT; tries++) {
    const port = FIRST + next++ % COUNT;
    if (isFree(port)) return port;
  }
  throw new Error(`No port from ${FIRST} to ${FIRST + COUNT - 1} is free`);
}

function isFree(port: number): boolean {
  try {
    Deno.listen({ hostname: "127.0.0.1", port }).close();
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.AddrInUse) return false;
    throw error;
  }
}
