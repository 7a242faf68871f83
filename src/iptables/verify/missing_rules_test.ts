import assert from "node:assert/strict";
import { makePlan } from "../plan/plan.ts";
import { readSettings } from "../settings/read.ts";
import type { Flow } from "./flows.ts";
import { rulesFor } from "./missing_rules.ts";

const NAMES = { users: new Map<string, number>(), groups: new Map<string, number>() };

function rules(flags: readonly string[], flow: Pick<Flow, "kind" | "port">, isNative = false): string[] {
  const { settings } = readSettings(["-u", "1337", ...flags], {}, NAMES);
  assert.ok(settings);
  const plan = makePlan(settings.capture, { hasIpv6: false, dnsServers: [] });
  return rulesFor(plan, { ...flow, family: 4, targets: [], owner: "" }, isNative);
}

Deno.test("rulesFor() an inbound flow: the jump, the capture and the redirection", () => {
  assert.deepEqual(rules(["-b", "80"], { kind: "inbound", port: 15006 }), [
    "-t nat -A ISTIO_IN_REDIRECT -p tcp -j REDIRECT --to-ports 15006",
    "-t nat -A PREROUTING -p tcp -j ISTIO_INBOUND",
    "-t nat -A ISTIO_INBOUND -p tcp --dport 80 -j ISTIO_IN_REDIRECT",
  ]);
});

Deno.test("rulesFor() with TPROXY and with nftables", () => {
  const found = rules(["-b", "80", "-m", "TPROXY"], { kind: "inbound", port: 15006 }).join("\n");
  assert.match(found, /-t mangle -A ISTIO_TPROXY .* --on-port 15006/);
  assert.deepEqual(rules(["-i", "*"], { kind: "outbound", port: 15001 }, true), [
    "nat: meta l4proto tcp counter redirect to :15001",
    "nat: counter jump istio-output",
    "nat: counter jump istio-redirect",
  ]);
});

Deno.test("rulesFor() DNS and the proxy's calls to itself", () => {
  const dns = rules(["--redirect-dns", "--capture-all-dns"], { kind: "DNS over UDP", port: 15053 });
  assert.deepEqual(dns.filter((rule) => rule.includes("-p udp")), [
    "-t nat -A ISTIO_OUTPUT_DNS -p udp --dport 53 -j REDIRECT --to-port 15053",
  ]);
  const own = rules([], { kind: "proxy to itself", port: 15006 });
  assert.ok(own.some((rule) => rule.includes("--uid-owner 1337 -j ISTIO_IN_REDIRECT")), own.join("\n"));
});
