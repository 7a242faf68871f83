/** DNS answers a second, and what each takes of the processor: the server in a process of its own, asked from this one. */
import { Buffer } from "node:buffer";
import dnsPacket from "dns-packet";

const SECONDS = 2;
const FLIGHT = 64;
const HOSTS = 1000;

/** The server, with a table of a thousand hosts; says its port, and at the end of its input the time that it took. */
const SERVER = `
import { dnsServer, external } from "./test/support/dns/server.ts";
const hosts = Object.fromEntries(Array.from({ length: ${HOSTS} }, (_, at) => ["host-" + at + ".example.com", external("10.0.0." + at % 256)]));
const server = await dnsServer({ table: hosts });
console.log(server.port);
await Deno.stdin.read(new Uint8Array(1));
const { user, system } = (await import("node:process")).default.cpuUsage();
console.log((user + system) / 1e6, Deno.memoryUsage().rss / 1e6);
Deno.exit(0);
`;

async function main(): Promise<void> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["eval", "--quiet", "--v8-flags=--lite-mode,--max-semi-space-size=1", SERVER],
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const lines = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const port = Number((await lines.read()).value);
  const udp = await askFor(port);
  const input = child.stdin.getWriter();
  await input.write(new Uint8Array(1));
  await input.close();
  const [cpu = 0, rss = 0] = String((await lines.read()).value).split(" ").map(Number);
  await child.status;
  const rate = Math.round(udp / SECONDS);
  say(
    `dns: ${rate} answers/s over UDP (${FLIGHT} at once), ${
      (cpu / udp * 1e6).toFixed(1)
    } us of processor each with the start, ${rss.toFixed(0)} MB`,
  );
}

/** Answers that came in the time. */
async function askFor(port: number): Promise<number> {
  const socket = Deno.listenDatagram({ transport: "udp", hostname: "127.0.0.1", port: 0 });
  const server = { transport: "udp", hostname: "127.0.0.1", port } as const;
  const questions = Array.from({ length: HOSTS }, (_, at) => question(`host-${at}.example.com`, at));
  const end = performance.now() + SECONDS * 1000;
  const buffer = new Uint8Array(512);
  let [sent, received] = [0, 0];
  for (; sent < FLIGHT; sent++) await socket.send(questions[sent % HOSTS] ?? buffer, server);
  while (performance.now() < end) {
    await socket.receive(buffer);
    received++;
    await socket.send(questions[sent++ % HOSTS] ?? buffer, server);
  }
  socket.close();
  return received;
}

function question(name: string, id: number): Uint8Array {
  return Buffer.from(
    dnsPacket.encode({ type: "query", id, flags: 256, questions: [{ type: "A", name, class: "IN" }] }),
  );
}

function say(line: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
}

await main();
