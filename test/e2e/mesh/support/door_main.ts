/**
 * A program that accepts connections at one address and forwards their bytes to another. Each line of standard input
 * sets the delay of each piece of data, in milliseconds. The program ends with its standard input.
 */
import { linesOf } from "../../../../src/base/text/mod.ts";

/** A TCP port or a Unix socket. */
export type Place = Deno.TcpListenOptions & { transport: "tcp" } | Deno.UnixListenOptions & { transport: "unix" };

let delay = 0;

async function pass(from: Deno.Conn, to: Deno.Conn): Promise<void> {
  const buffer = new Uint8Array(65_536);
  for (let count = await from.read(buffer); count !== null; count = await from.read(buffer)) {
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    for (let done = 0; done < count;) done += await to.write(buffer.subarray(done, count));
  }
}

async function connectTo(place: Place): Promise<Deno.Conn> {
  if (place.transport === "unix") return await Deno.connect(place);
  const connection = await Deno.connect(place);
  connection.setNoDelay();
  return connection;
}

async function serve(outer: Deno.Conn, place: Place): Promise<void> {
  using _ = outer;
  using inner = await connectTo(place);
  await Promise.race([pass(outer, inner), pass(inner, outer)]);
}

/** Accepts connections until the process ends. A connection that fails does not affect the others. */
async function open(from: Place, to: Place): Promise<void> {
  const listener = from.transport === "unix" ? Deno.listen(from) : Deno.listen(from);
  await Deno.stdout.write(new TextEncoder().encode("open\n"));
  for await (const connection of listener) serve(connection, to).catch(() => {});
}

if (import.meta.main) {
  const [from = "{}", to = "{}"] = Deno.args;
  open(JSON.parse(from), JSON.parse(to));
  for await (const line of linesOf(Deno.stdin.readable)) delay = Number(line);
  Deno.exit();
}
