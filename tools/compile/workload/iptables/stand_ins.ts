/**
 * Replaces the kernel and iptables while the code cache is made. A build machine may lack both, and the permission to
 * change rules, and its own rules must not affect the cache. The binary contains none of this; test/e2e/iptables tests
 * the program with a real kernel.
 */
import recorded from "./nf_tables.json" with { type: "json" };

/** The rules in the kernel: none, or a pod's capture rules in one of the two back ends. */
export type Held = "nothing" | "nft" | "legacy";

const HELD: readonly string[] = ["nothing", "nft", "legacy"] satisfies readonly Held[];

/** Installs the stand-ins for the C library, the pod's addresses, and the files in `/proc`. */
export function standIn(held: string): void {
  if (!HELD.includes(held)) throw new Error(`Nothing stands in for "${held}"`);
  const { dlopen } = Deno;
  replace("dlopen", (path: string, calls: Deno.ForeignLibraryInterface) => {
    const opened = dlopen(path, calls);
    return { symbols: library(opened.symbols, held), close: () => opened.close() };
  });
  replace("networkInterfaces", () => ADDRESSES);
  const { openSync, statSync } = Deno;
  const legacy = held === "legacy" ? "tools/compile/workload/iptables/tables_names.txt" : "/dev/null/nothing";
  const fileOf = (path: string | URL) => TABLES_NAMES.test(String(path)) ? legacy : path;
  replace("openSync", (path: string | URL, options?: Deno.OpenOptions) => openSync(fileOf(path), options));
  replace("statSync", (path: string | URL) => statSync(fileOf(path)));
}

const TABLES_NAMES = /^\/proc\/net\/ip6?_tables_names$/;

const ADDRESSES = [
  { name: "eth0", family: "IPv4", address: "10.1.1.1" },
  { name: "eth0", family: "IPv6", address: "fd00::7" },
];

function replace(name: string, value: unknown): void {
  Object.defineProperty(Deno, name, { value });
}

/**
 * The file descriptor of every file and socket that the program opens by itself. The kernel never returns a descriptor
 * this large.
 */
const STAND_IN = 1 << 30;

/** The functions that src/platform/linux calls to apply rules. Only programs on the PATH really start. */
function library(real: Readonly<Record<string, unknown>>, held: string) {
  let asked = 0;
  const stands = {
    socket: () => STAND_IN,
    open: () => STAND_IN,
    close: () => 0,
    setns: () => 0,
    send(_socket: number, message: Uint8Array) {
      asked = new DataView(message.buffer).getUint16(4, true);
      return BigInt(message.length);
    },
    recv(_socket: number, buffer: Uint8Array) {
      const answer = answerTo(asked, held);
      buffer.set(answer);
      return BigInt(answer.length);
    },
    getsockopt: (_socket: number, _level: number, option: number, value: Uint8Array) => fillTable(option, value),
  };
  return { ...real, ...Object.fromEntries(Object.entries(stands).filter(([name]) => name in real)) };
}

/** Types of netlink requests (linux/netfilter/nf_tables.h, linux/rtnetlink.h). */
const ASKED = { tables: 0xa01, chains: 0xa04, rules: 0xa07, addresses: 22 } as const;
const DONE = message(3, new Uint8Array(4), []);

function answerTo(asked: number, held: string): Uint8Array {
  const parts: Uint8Array[] = [];
  if (held !== "nothing" && asked === ASKED.addresses) parts.push(loopbackAddress());
  const known = held === "nft" ? RECORDED.get(asked) : undefined;
  return known ?? joined([...parts, DONE]);
}

/** The replies of a real kernel after the first run with a stand-in. */
const RECORDED: ReadonlyMap<number, Uint8Array> = new Map([
  [ASKED.tables, Uint8Array.fromBase64(recorded.tables)],
  [ASKED.chains, Uint8Array.fromBase64(recorded.chains)],
  [ASKED.rules, Uint8Array.fromBase64(recorded.rules)],
]);

/** The reply that lists `::6/128` on the interface `lo`. */
function loopbackAddress(): Uint8Array {
  return message(20, Uint8Array.of(10, 128, 0, 0, 1, 0, 0, 0), [[1, Uint8Array.of(...Array(15).fill(0), 6)]]);
}

const MULTI = 2;

/** A netlink message that is part of a multipart reply: its header, the header of its family, and its attributes. */
function message(type: number, header: Uint8Array, attributes: readonly (readonly [number, Uint8Array])[]): Uint8Array {
  const bytes = joined([new Uint8Array(16), header, ...attributes.map(([kind, value]) => attribute(kind, value))]);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length, true);
  view.setUint16(4, type, true);
  view.setUint16(6, MULTI, true);
  return bytes;
}

function attribute(kind: number, value: Uint8Array): Uint8Array {
  const bytes = new Uint8Array((4 + value.length + 3) & ~3);
  const view = new DataView(bytes.buffer);
  view.setUint16(0, 4 + value.length, true);
  view.setUint16(2, kind, true);
  bytes.set(value, 4);
  return bytes;
}

function text(name: string): Uint8Array {
  return new TextEncoder().encode(`${name}\0`);
}

function joined(parts: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

const TABLE = { information: 64, entryCount: 76, entriesSize: 80, firstEntry: 40, rules: 18 } as const;

/** Writes a table of iptables-legacy (linux/netfilter_ipv4/ip_tables.h) with owned chains. */
function fillTable(option: number, value: Uint8Array): number {
  const view = new DataView(value.buffer);
  if (option === TABLE.information) {
    view.setUint32(TABLE.entryCount, TABLE.rules, true);
    view.setUint32(TABLE.entriesSize, 16, true);
  } else value.set(text("ISTIO_OUTPUT"), TABLE.firstEntry);
  return 0;
}
