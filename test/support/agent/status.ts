import { startLog } from "../../../src/platform/log.ts";
import { realWorld } from "../../../src/platform/mod.ts";
import { fakeWorld } from "../fake_world.ts";
import { startStatusServer, type StatusOptions } from "../../../src/agent/status/server.ts";

const world = realWorld();
// The C library is opened on first use and stays open. It is opened here, because the sanitizer of a test would report
// a leak.
if (world.machine.os === "linux") world.system.interfaceIndex("lo");

/** Starts a status server on a free port of the real network, and collects its log. */
export async function statusServer(options: Partial<StatusOptions> = {}) {
  const fake = fakeWorld();
  const logger = startLog(fake, "agent");
  const server = await startStatusServer(world, {
    port: 0,
    logger,
    version: "1.2.3",
    envoy: undefined,
    application: { probers: new Map(), host: "127.0.0.1", isHttp2Offered: true },
    scrapeTargets: [],
    areMetricsLocal: false,
    terminating: () => undefined,
    onQuit: () => {},
    onDrain: () => {},
    ...options,
  });
  return {
    server,
    origin: `http://127.0.0.1:${server.port}`,
    log: () => fake.said.stderr,
    [Symbol.asyncDispose]: () => server.close(),
  };
}

/** Starts a server on a free port of this machine. */
export function serve(handler: (request: Request, from: string) => Response | Promise<Response>) {
  const options = { hostname: "127.0.0.1", port: 0, onListen() {} };
  return Deno.serve(options, (request, { remoteAddr }) => handler(request, remoteAddr.hostname));
}

/** Starts a copy of Envoy's admin interface with these statistics, which the test may change. */
export function adminInterface(stats: Record<string, number>) {
  const asked: string[] = [];
  const server = serve((request) => {
    const url = new URL(request.url);
    asked.push(url.pathname + url.search);
    const filter = new RegExp(url.searchParams.get("filter") ?? "");
    const lines = Object.entries(stats).filter(([name]) => filter.test(name)).map(([name, value]) =>
      `${name}: ${value}\n`
    );
    return new Response(lines.join(""));
  });
  return { asked, port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}
