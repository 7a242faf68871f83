/** Fuzzes requests to the agent's status server: probes, readiness, metrics, quit and drain. */
import { readProbers } from "../../../src/agent/status/probes/config.ts";
import { startStatusServer } from "../../../src/agent/status/server.ts";
import { startLog } from "../../../src/platform/log.ts";
import { fakeWorld } from "../../support/fake_world.ts";
import { Broken, type FuzzReader, holds, textOf } from "../reader.ts";

/** Requests as lines: the method, the target, and the headers. */
const SEEDS = [
  "GET\n/healthz/ready\n",
  "GET\n/app-health/web/livez\nuser-agent: kube-probe/1.31\naccept-encoding: gzip;q=0.5, *\n",
  "GET\n/app-lifecycle/web/prestopz?a=b\nx: y\n",
  "GET\n/stats/prometheus?usedonly&filter=a\naccept: application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1\nx-prometheus-scrape-timeout-seconds: 10\n",
  "POST\n/quitquitquit\n",
  "POST\n/drain\n",
  "GET\n/debug/ndsz\naccept-encoding: zstd\n",
];

const PROBERS = JSON.stringify({
  "/app-health/web/livez": { httpGet: { port: 80, path: "/x?y", scheme: "HTTPS" }, timeoutSeconds: 1 },
  "/app-lifecycle/web/prestopz": { httpGet: { port: 80 } },
});

export const STATUS: FuzzReader = {
  name: "status",
  seeds: SEEDS,
  words: [
    "GET",
    "HEAD",
    "PUT",
    "OPTIONS",
    "/",
    "..",
    "%2f",
    "%00",
    "//",
    "?",
    "#",
    ";",
    ",",
    "q=",
    "*/*",
    "gzip",
    "identity;q=0",
    "accept: ",
    "\n",
    "host: a",
    "127.0.0.1",
    "[::1]",
    "\u00e9",
    "1e400",
    "-1",
  ],
  async open() {
    const world = fakeWorld({
      request: () => new Response("answer", { headers: { "content-type": "text/plain; version=0.0.4" } }),
    });
    const server = await startStatusServer(world, {
      port: 15020,
      logger: startLog(world, "agent"),
      version: "1",
      envoy: { adminHost: "127.0.0.1", adminPort: 15000, metricsPort: 15090 },
      application: { probers: readProbers(PROBERS).probers, host: "127.0.0.1", isHttp2Offered: true },
      scrapeTargets: [{ port: 80, path: "/metrics" }],
      areMetricsLocal: false,
      terminating: () => undefined,
      onQuit: () => {},
      onDrain: () => {},
    });
    const [handler] = world.servers.values();
    if (handler === undefined || server.port === undefined) throw new Error("The status server does not serve");
    return async (input) => {
      const request = requestOf(textOf(input));
      if (request === undefined) return false;
      const response = await handler(request, { hostname: "127.0.0.1", port: 1 } as never);
      holds(response.status >= 100 && response.status < 600, `a response has the status ${response.status}`);
      holds((await response.text()).length < 1 << 20, "a response is very long");
      return response.ok;
    };
  },
};

/** Parses a request; `undefined` if HTTP itself cannot carry it. */
function requestOf(text: string): Request | undefined {
  const [method = "", target = "", ...fields] = text.split("\n");
  const headers = new Headers();
  try {
    for (const field of fields.slice(0, 50)) {
      const [name = "", ...value] = field.split(":");
      if (name !== "") headers.append(name, value.join(":"));
    }
    return new Request(`http://127.0.0.1:15020${target.startsWith("/") ? "" : "/"}${target}`, { method, headers });
  } catch (error) {
    if (error instanceof Broken) throw error;
    return undefined;
  }
}
