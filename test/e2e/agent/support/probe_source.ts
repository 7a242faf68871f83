/**
 * Probes an application at the given address of this network namespace, over HTTP, HTTPS and TCP. Prints the status
 * and the source address of each probe as JSON.
 */
import { realWorld } from "../../../../src/platform/mod.ts";
import { fakeWorld } from "../../../support/fake_world.ts";
import { startLog } from "../../../../src/platform/log.ts";
import type { Prober } from "../../../../src/agent/status/probes/config.ts";
import { startStatusServer } from "../../../../src/agent/status/server.ts";
import { CERTIFICATE, KEY } from "../../../support/tls/self_signed.ts";

const world = realWorld();
const [host = ""] = world.args;
const fake = fakeWorld();
const seen: string[] = [];
const options = { hostname: host, port: 0, onListen() {} };
const answer = (_request: Request, { remoteAddr }: Deno.ServeHandlerInfo<Deno.NetAddr>) => {
  seen.push(remoteAddr.hostname);
  return new Response();
};
const http = Deno.serve(options, answer);
const https = Deno.serve({ ...options, cert: CERTIFICATE, key: KEY }, answer);
const tcp = Deno.listen(options);
const timeoutSeconds = 5;
const probers = new Map<string, Prober>([
  ["/app-health/http/livez", { kind: "http", port: http.addr.port, path: "/", isTls: false, timeoutSeconds }],
  ["/app-health/https/livez", { kind: "http", port: https.addr.port, path: "/", isTls: true, timeoutSeconds }],
  ["/app-health/tcp/livez", { kind: "tcp", port: tcp.addr.port, timeoutSeconds }],
]);
const status = await startStatusServer(world, {
  port: 0,
  logger: startLog(fake, "agent"),
  version: "1.2.3",
  envoy: undefined,
  application: { probers, host, isHttp2Offered: true },
  scrapeTargets: [],
  areMetricsLocal: false,
  terminating: () => undefined,
  onQuit: () => {},
  onDrain: () => {},
});
const accepted = tcp.accept();
const codes: number[] = [];
for (const path of probers.keys()) codes.push((await fetch(`http://127.0.0.1:${status.port}${path}`)).status);
seen.push((await accepted).remoteAddr.hostname);
const warnings = fake.said.stderr.match(/cannot use the source address.*/g) ?? [];
world.stdout.write(JSON.stringify({ codes, seen, warnings }));
Deno.exit();
