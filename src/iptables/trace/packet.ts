/** Decides whether the conditions of a rule hold for the first packet of a connection. */
import { type Address, blockHolds, parseCidr } from "../../golang/net/mod.ts";
import type { RuleOptions } from "../kernel/xtables/rule_options.ts";
import type { Family } from "../plan/rule.ts";

/** The first packet of a connection. `undefined` fields are unknown. */
export interface Packet {
  readonly family: Family;
  readonly protocol: "tcp" | "udp";
  readonly source: Address | undefined;
  readonly destination: Address | undefined;
  readonly port: number;
  /** The interface that receives the packet. `eth0` stands for any interface except `lo`. */
  readonly inInterface: string | undefined;
  readonly outInterface: string | undefined;
  /** The UID of the sending process; `undefined` if unknown. */
  readonly uid: number | undefined;
  readonly gid: number | undefined;
  /** Whether a process of this network namespace sends the packet. */
  readonly isSent: boolean;
  /** The packet mark, which rules may change. */
  readonly mark: number;
}

/** Whether a condition holds; `undefined` if a packet field or the condition is unknown. */
type Held = boolean | undefined;

type Test = (value: string, packet: Packet) => Held;

const TARGET_OPTIONS: ReadonlySet<string> = new Set([
  "j",
  "g",
  "to-ports",
  "on-port",
  "on-ip",
  "tproxy-mark",
  "set-xmark",
  "comment",
  "reject-with",
  "zone",
  "save-mark",
  "restore-mark",
  "nfmask",
  "ctmask",
  "nflog-prefix",
  "nflog-group",
  "log-prefix",
]);

const TESTS: Readonly<Record<string, Test>> = {
  p: (value, { protocol }) => value === protocol || value === "all",
  s: (value, { source }) => inBlock(value, source),
  d: (value, { destination }) => inBlock(value, destination),
  i: (value, { inInterface }) => isInterface(value, inInterface),
  o: (value, { outInterface }) => isInterface(value, outInterface),
  dport: (value, { port }) => inPorts(value, port),
  dports: (value, { port }) => inPorts(value, port),
  "uid-owner": (value, { uid, isSent }) => isOwner(value, uid, isSent),
  "gid-owner": (value, { gid, isSent }) => isOwner(value, gid, isSent),
  mark: (value, { mark }) => hasMark(value, mark),
  ctstate: (value) => value.toUpperCase().split(",").includes("NEW"),
  // A new connection has no connection mark.
  connmark: (value) => hasMark(value, 0),
};

/** Whether all conditions of a rule hold for the packet. */
export function holds(options: RuleOptions, packet: Packet): Held {
  let result: Held = true;
  for (const [name, text] of options) {
    if (TARGET_OPTIONS.has(name)) continue;
    const isNegated = text.startsWith("!");
    const test = Object.hasOwn(TESTS, name) ? TESTS[name] : undefined;
    const held = test?.(isNegated ? text.slice(1) : text, packet);
    const passed = held === undefined ? undefined : held !== isNegated;
    if (passed === false) return false;
    if (passed === undefined) result = undefined;
  }
  return result;
}

function inBlock(value: string, address: Address | undefined): Held {
  const cidr = parseCidr(value);
  if (address === undefined) return typeof cidr !== "string" && cidr.bits === 0 ? true : undefined;
  return typeof cidr === "string" ? undefined : blockHolds(cidr, address);
}

function isInterface(value: string, name: string | undefined): Held {
  if (name === undefined) return false;
  return value.endsWith("+") ? name.startsWith(value.slice(0, -1)) : value === name;
}

/** Whether a port is in a list or range such as `53`, `80,443`, `9000:9010` or `9000-9010`. */
function inPorts(value: string, port: number): boolean {
  return value.split(",").some((part) => {
    const [first = "", last = first] = part.split(/[:-]/);
    return Number(first) <= port && port <= Number(last);
  });
}

/**
 * Whether the owner matches. Only packets of a local process have an owner. For other packets the condition does not
 * hold, even if negated.
 */
function isOwner(value: string, owner: number | undefined, isSent: boolean): Held {
  if (!isSent) return false;
  const [first = "", last = first] = value.split("-");
  if (!/^\d+$/.test(first)) return undefined;
  return owner === undefined ? undefined : Number(first) <= owner && owner <= Number(last);
}

/** Whether a mark matches a value such as `0x539` or `0x539/0xffffffff`. */
function hasMark(value: string, mark: number): Held {
  const [wanted = "", mask = "0xffffffff"] = value.split("/");
  const bits = Number(mask);
  return Number.isNaN(Number(wanted)) ? undefined : (mark & bits) >>> 0 === Number(wanted) >>> 0;
}
