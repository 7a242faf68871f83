import assert from "node:assert/strict";
import { readSettings } from "../settings/read.ts";
import { flowsOf, freePort } from "./flows.ts";
import { endpointText } from "./probe/ports.ts";

const NAMES = { users: new Map<string, number>(), groups: new Map<string, number>() };
const ME = { uid: 0, gid: 0, maySetUid: true, maySetGid: true, hasNetAdmin: true, hasNetRaw: true };

/** `KIND FAMILY FIRST-TARGET -> PORT`, or the reason why the flow has no sender. */
function flows(
  flags: string,
  addresses: readonly string[] = ["127.0.0.1", "10.1.1.1"],
  families: readonly (4 | 6)[] = [4],
) {
  const { settings, problems } = readSettings(
    ["-u", "1337", ...flags.split(" ").filter((word) => word !== "")],
    {},
    NAMES,
  );
  assert.ok(settings, JSON.stringify(problems));
  const context = { settings: settings.capture, families, addresses, probePort: 15002, me: ME, names: NAMES };
  return flowsOf({ ...context, dnsServers: [{ family: 4, value: 0x0a600a0an, zone: "" }] }).map((flow) => {
    const [target] = flow.targets;
    return `${flow.kind} ${target === undefined ? flow.owner : endpointText(target)} -> ${flow.port}`;
  });
}

const CASES: readonly (readonly [string, string, readonly string[]])[] = [
  ["only the proxy's calls to itself are captured", "", ["proxy to itself 10.1.1.1:15002 -> 15006"]],
  ["everything", "-i * -b *", [
    "outbound 192.0.2.1:15002 -> 15001",
    "inbound 10.1.1.1:15002 -> 15006",
    "proxy to itself 10.1.1.1:15002 -> 15006",
  ]],
  ["excluded ports and blocks are avoided", "-i * -b * -d 15002,15003 -o 15002-15010 -x 192.0.2.0/24", [
    "outbound 198.51.100.1:15011 -> 15001",
    "inbound 10.1.1.1:15004 -> 15006",
    "proxy to itself 10.1.1.1:15011 -> 15006",
  ]],
  [
    "lists: each block, each port",
    "-i 10.0.0.0/8,10.2.0.0/16,fd00::/8 -x 10.0.0.0/30 -b 80,8000:8100 -q 443 -p 1 -z 2",
    [
      "outbound 10.0.0.9:15002 -> 1",
      "outbound 10.2.0.1:15002 -> 1",
      "outbound 192.0.2.1:443 -> 1",
      "inbound 10.1.1.1:80 -> 2",
      "inbound 10.1.1.1:8000 -> 2",
      "proxy to itself 10.1.1.1:15002 -> 2",
    ],
  ],
  ["DNS of the servers", "--redirect-dns", [
    "proxy to itself 10.1.1.1:15002 -> 15006",
    "DNS over TCP 10.96.10.10:53 -> 15053",
    "DNS over UDP 10.96.10.10:53 -> 15053",
  ]],
  ["DNS of any server", "--redirect-dns --capture-all-dns", [
    "proxy to itself 10.1.1.1:15002 -> 15006",
    "DNS over TCP 192.0.2.1:53 -> 15053",
    "DNS over UDP 192.0.2.1:53 -> 15053",
  ]],
];

for (const [name, flags, expected] of CASES) {
  Deno.test(`flowsOf(): ${name}`, () => assert.deepEqual(flows(flags), expected));
}

Deno.test("flowsOf(): an IPv6-only pod reaches itself over IPv4 like the proxy, and has no inbound IPv4 flow", () => {
  assert.deepEqual(flows("-b *", ["::1", "::6", "fe80::1", "fd00::7"], [4, 6]), [
    "inbound the pod has no IPv4 address -> 15006",
    "proxy to itself 127.0.0.6:15002 -> 15006",
    "inbound [fd00::7]:15002 -> 15006",
    "proxy to itself [fd00::7]:15002 -> 15006",
  ]);
});

Deno.test("freePort() wraps to 1", () => {
  assert.equal(freePort(65535, [{ first: 65535, last: 65535 }, { first: 1, last: 9 }]), 10);
});
