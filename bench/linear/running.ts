/** Cases for what the agent and `iptables` read while a pod runs. */
import { BinaryWriter } from "../../src/base/protobuf.ts";
import { readProbers } from "../../src/agent/status/probes/config.ts";
import { decodeNameTable, nameTableJson } from "../../src/agent/dns/table/name_table.ts";
import { buildLookup } from "../../src/agent/dns/server/lookup.ts";
import { readResolvConf } from "../../src/agent/dns/upstream/resolv_conf.ts";
import { truncate } from "../../src/agent/dns/server/answer.ts";
import { readQuery, readRecords } from "../../src/agent/dns/wire.ts";
import { withoutEndMark } from "../../src/agent/metrics/bounded_body.ts";
import { acceptFor, formatOf } from "../../src/agent/metrics/accept.ts";
import { readScrapeTargets } from "../../src/agent/metrics/scrape_targets.ts";
import { readDiscoveryRequest } from "../../src/agent/sds/messages.ts";
import { decodeResponse } from "../../src/agent/identity/messages.ts";
import { ConnectionCounter } from "../../src/agent/xds/message_counter.ts";
import { parseDownwardApi } from "../../src/agent/settings/pod/downward_api.ts";
import { decodePems } from "../../src/golang/x509/mod.ts";
import { listedTables } from "../../src/iptables/kernel/nftables/content.ts";
import { ownedRules } from "../../src/iptables/kernel/xtables/owned.ts";
import { parseSave } from "../../src/iptables/kernel/xtables/save.ts";
import { type LinearCase, repeat } from "./case.ts";

const names = () => ({ users: new Map<string, number>(), groups: new Map<string, number>() });
const owned = (text: string) => ownedRules(parseSave(text, names()));
const table = (name: string, chains: string, rules: string) =>
  `*${name}\n:PREROUTING ACCEPT [0:0]\n:OUTPUT ACCEPT [0:0]\n${chains}${rules}COMMIT\n`;

function nameTable(n: number, ips: (i: number) => readonly string[]): Uint8Array {
  const writer = new BinaryWriter();
  for (let i = 0; i < n; i++) {
    const info = new BinaryWriter();
    for (const ip of ips(i)) info.uint32(1 << 3 | 2).string(ip);
    info.uint32(2 << 3 | 2).string("Kubernetes").uint32(3 << 3 | 2).string(`s${i}`).uint32(4 << 3 | 2).string("n");
    const entry = new BinaryWriter();
    entry.uint32(1 << 3 | 2).string(`s${i}.n.svc.cluster.local`).uint32(2 << 3 | 2).bytes(info.finish());
    writer.uint32(1 << 3 | 2).bytes(entry.finish());
  }
  return writer.finish();
}

function readTable(bytes: Uint8Array): unknown {
  const read = decodeNameTable(bytes);
  nameTableJson(read);
  return buildLookup(read, { namespace: "n", domain: "n.svc.cluster.local" });
}

function discoveryRequest(n: number): Uint8Array {
  const writer = new BinaryWriter();
  writer.uint32(4 << 3 | 2).string("type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.Secret");
  for (let i = 0; i < n; i++) writer.uint32(3 << 3 | 2).string(`file-cert:/a${i}~/b`);
  return writer.finish();
}

/** A response with this many records of minimal size. */
function dnsAnswer(n: number): Uint8Array {
  const bytes = new Uint8Array(17 + n * 12);
  bytes.set([0, 1, 0x81, 0x80, 0, 1, n >> 8, n & 255, 0, 0, 0, 0, 0, 0, 1, 0, 1]);
  for (let i = 0; i < n; i++) bytes.set([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 9, 0, 0], 17 + i * 12);
  return bytes;
}

const PEM = `-----BEGIN CERTIFICATE-----\n${`${"A".repeat(64)}\n`.repeat(20)}-----END CERTIFICATE-----\n`;

/** Each case has a name, its smallest size, the input, and the function that reads it. */
const CASES: readonly LinearCase[] = [
  of("name table: hosts", 10_000, (n) => nameTable(n, () => ["10.0.0.1"]), readTable),
  of(
    "name table: addresses of one host",
    20_000,
    (n) => nameTable(1, () => Array.from({ length: n }, (_, i) => `10.0.${i >> 8 & 255}.${i & 255}`)),
    readTable,
  ),
  of(
    "name table: cut off",
    10_000,
    (n) => nameTable(n, () => ["10.0.0.1"]).subarray(0, -1),
    (bytes) => caught(() => readTable(bytes)),
  ),
  of(
    "DNS: an answer of many records",
    1_000,
    dnsAnswer,
    (bytes) => times(20, () => readRecords(bytes, 17, bytes[6]! << 8 | bytes[7]!)),
  ),
  of("DNS: an answer that is cut", 1_000, dnsAnswer, (bytes) => times(20, () => truncate(bytes, 17, 512))),
  of(
    "DNS: a question of many bytes",
    10_000,
    (n) => new Uint8Array(n).fill(1),
    (bytes) => times(1000, () => readQuery(bytes)),
  ),
  of(
    "resolv.conf: servers",
    20_000,
    (n) => repeat(n, (i) => `nameserver 10.0.${i >> 8 & 255}.${i & 255}\n`),
    (text) => readResolvConf(text),
  ),
  of(
    "resolv.conf: search domains",
    20_000,
    (n) => `search ${repeat(n, (i) => `d${i}.x `)}\n`,
    (text) => readResolvConf(text),
  ),
  of("resolv.conf: blank lines", 500_000, (n) => "\n".repeat(n), (text) => readResolvConf(text)),
  of("resolv.conf: spaces", 500_000, (n) => `nameserver${" ".repeat(n)}x`, (text) => readResolvConf(text)),
  of(
    "metrics: pieces",
    400_000,
    (n) => Array.from({ length: n }, () => new Uint8Array(100)),
    (pieces) => withoutEndMark(pieces),
  ),
  of(
    "metrics: empty pieces",
    100_000,
    (n) => Array.from({ length: n }, () => new Uint8Array(0)),
    (pieces) => withoutEndMark(pieces),
  ),
  of(
    "metrics: a content type",
    20_000,
    (n) => `application/openmetrics-text${repeat(n, (i) => `; a${i}="b"`)}`,
    (text) => formatOf(text),
  ),
  of(
    "metrics: an Accept header",
    100_000,
    (n) => `text/plain${"; q ".repeat(n)}`,
    (text) => acceptFor("envoy", text),
  ),
  of(
    "metrics: targets",
    10_000,
    (n) => JSON.stringify({ scrape: "true", port: repeat(n, (i) => `${i},`) }),
    (text) => readScrapeTargets(text, 15020),
  ),
  of("SDS: names", 50_000, discoveryRequest, readDiscoveryRequest),
  of("CA: certificates", 50_000, certificates, decodeResponse),
  of("xDS: frames", 100_000, (n) => new Uint8Array(n * 9), (bytes) => {
    const counter = new ConnectionCounter(0);
    for (let at = 0; at < bytes.length; at += 100) counter.count(bytes.subarray(at, at + 100));
  }),
  of(
    "probes",
    5_000,
    (n) =>
      JSON.stringify(
        Object.fromEntries(
          Array.from({ length: n }, (_, i) => [`/app-health/c${i}/livez`, { tcpSocket: { port: 1 } }]),
        ),
      ),
    readProbers,
  ),
  of(
    "probes: problems",
    5_000,
    (n) => JSON.stringify(Object.fromEntries(Array.from({ length: n }, (_, i) => [`/x${i}`, {}]))),
    readProbers,
  ),
  of("downward API: labels", 50_000, (n) => repeat(n, (i) => `k${i}="v"\n`), (text) => parseDownwardApi(text)),
  of(
    "downward API: a long value",
    500_000,
    (n) => `k="${"\\n\\u0041a".repeat(n / 9)}"\n`,
    (text) => parseDownwardApi(text),
  ),
  of("PEM: certificates", 500, (n) => PEM.repeat(n), (text) => decodePems(text)),
  of("PEM: text without an end", 10_000, (n) => "-----BEGIN CERTIFICATE-----\n".repeat(n), (text) => decodePems(text)),
  of("PEM: dashes", 200_000, (n) => "-".repeat(n), (text) => decodePems(text)),
  of(
    "iptables-save: foreign rules",
    5_000,
    (n) => table("nat", "", repeat(n, (i) => `-A OUTPUT -d 10.0.${i >> 8}.${i & 255}/32 -p tcp -j ACCEPT\n`)),
    owned,
  ),
  of(
    "iptables-save: owned rules",
    5_000,
    (n) =>
      table(
        "nat",
        ":ISTIO_OUTPUT - [0:0]\n",
        repeat(n, (i) => `-A ISTIO_OUTPUT -d 10.0.${i >> 8}.${i & 255}/32 -j RETURN\n`),
      ),
    owned,
  ),
  of(
    "iptables-save: rules of interfaces",
    2_000,
    (n) =>
      table(
        "nat",
        ":ISTIO_OUTPUT - [0:0]\n",
        repeat(n, (i) => `-A PREROUTING -i e${i} -j RETURN\n-A OUTPUT -o e${i} -j RETURN\n`),
      ),
    owned,
  ),
  of(
    "iptables-save: rules that drop",
    5_000,
    (n) =>
      table("mangle", ":ISTIO_INBOUND - [0:0]\n", "-A PREROUTING -m conntrack --ctstate INVALID -j DROP\n".repeat(n)) +
      table("nat", ":ISTIO_OUTPUT - [0:0]\n", "-A OUTPUT -p tcp -j ISTIO_OUTPUT\n"),
    owned,
  ),
  of("iptables-save: chains", 20_000, (n) => table("nat", repeat(n, (i) => `:ISTIO_${i} - [0:0]\n`), ""), owned),
  of(
    "iptables-save: a long rule",
    50_000,
    (n) => table("nat", "", `-A OUTPUT -m comment --comment ${"a ".repeat(n)}\n`),
    owned,
  ),
  of(
    "iptables-save: a long comment",
    200_000,
    (n) => table("nat", "", `-A OUTPUT -m comment --comment "${'\\" '.repeat(n / 3)}"\n`),
    owned,
  ),
  of("iptables-save: blank lines", 500_000, (n) => "\n".repeat(n), owned),
  of("nft listing: rules", 5_000, nftListing, (listing) => listedTables(listing, NO_NAMES)),
  of("nft listing: elements of a set", 20_000, nftSet, (listing) => listedTables(listing, NO_NAMES)),
];

function of<T>(
  name: string,
  size: number,
  make: (n: number) => T,
  read: (input: T) => unknown,
): LinearCase {
  return {
    name,
    size,
    prepare(n) {
      const input = make(n);
      const length = typeof input === "string" || input instanceof Uint8Array ? input.length : n;
      return { length, run: () => read(input) };
    },
  };
}

function certificates(n: number): Uint8Array {
  const writer = new BinaryWriter();
  for (let i = 0; i < n; i++) writer.uint32(1 << 3 | 2).string("PEM");
  return writer.finish();
}

const NO_NAMES = { users: new Map<string, number>(), groups: new Map<string, number>() };

/** A chain with these rules, in the format of `nft list`. */
function nftChain(rules: readonly string[]): string {
  return `table inet istio-proxy-nat {\n\tchain output {\n${rules.join("\n")}\n\t}\n}\n`;
}

function nftListing(n: number): string {
  return nftChain(Array.from({ length: n }, (_, i) => `\t\tip daddr 10.0.${i >> 8}.${i & 255} counter return`));
}

function nftSet(n: number): string {
  return nftChain([`\t\ttcp dport { ${Array.from({ length: n }, (_, i) => i).join(", ")} } counter return`]);
}

function times(count: number, action: () => unknown): void {
  for (let i = 0; i < count; i++) action();
}

/** Ignores the errors for invalid input. */
function caught(action: () => unknown): void {
  try {
    action();
  } catch {
    // Only the cost counts.
  }
}

export const RUNNING_CASES = CASES;
