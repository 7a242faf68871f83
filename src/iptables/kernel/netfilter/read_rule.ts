/** Interprets the expressions of a kernel rule. nft and iptables arrange these expressions differently. */
import { type Address, addressIn, addressText } from "../../../golang/net/mod.ts";
import { ADDRESS, BASE, COMPARE, CT, type Expression, META, PROTOCOL, type Value, VERDICT } from "./expressions.ts";
import { bitCount, STATES } from "./values.ts";
import type { KernelRule } from "./ruleset.ts";

/** A condition, statement or verdict of a rule. */
export type Part =
  /** `field` and `value` in the spelling of nft, such as `tcp dport` and `80-90`. */
  | { readonly kind: "condition"; readonly field: string; readonly negated: boolean; readonly value: string }
  | { readonly kind: "match" | "target"; readonly name: string; readonly revision: number; readonly info: Uint8Array }
  | { readonly kind: "counter"; readonly packets: number }
  | { readonly kind: "log"; readonly group: number; readonly prefix: string }
  /** A verdict such as `return` or `jump CHAIN`. */
  | { readonly kind: "verdict"; readonly text: string }
  /** Another statement in the spelling of nft, such as `redirect to :15001`. */
  | { readonly kind: "statement"; readonly text: string }
  /** An expression that this program does not know. */
  | { readonly kind: "unknown"; readonly text: string };

/**
 * Reads the parts of a rule. `family` is the table's address family; `undefined` for a table of the family `inet`, in
 * which a condition of the rule selects IPv4 or IPv6.
 */
export function readRule({ expressions }: Pick<KernelRule, "expressions">, family: 4 | 6 | undefined): Part[] {
  return new Reader(family).read(expressions);
}

/** The packet field in the register, and the way to format its values. */
interface Loaded {
  readonly field: string;
  readonly show: (data: Uint8Array) => string | undefined;
  readonly mask?: Uint8Array;
  /** The full size of the address in bytes, if the field is an address. */
  readonly size?: number;
}

/** The part continues in the next expression. */
const MORE = "more";
/** What an expression is; `undefined` if this program does not know it. */
type Read = Part | typeof MORE | undefined;

class Reader {
  #family: 4 | 6 | undefined;
  #protocol = "";
  #loaded: Loaded | undefined;
  #constant: Uint8Array | undefined;
  #least: string | undefined;

  constructor(family: 4 | 6 | undefined) {
    this.#family = family;
  }

  read(expressions: readonly Expression[]): Part[] {
    return expressions.flatMap((one) => {
      const read = Object.hasOwn(this.#readers, one.kind) ? this.#readers[one.kind]?.(one) : undefined;
      return read === MORE ? [] : [read ?? unknown(one)];
    });
  }

  readonly #readers: Readonly<Record<string, (one: Expression) => Read>> = {
    meta: (one) =>
      one.fields["source"] === undefined
        ? this.#load(META_FIELDS[number(one, "key")])
        : this.#set(one, "meta mark", META.mark),
    ct: (one) => this.#ct(one),
    payload: (one) => this.#payload(one),
    bitwise: (one) => this.#bitwise(one),
    byteorder: () => this.#loaded && this.#load({ ...this.#loaded, show: bigEndian }),
    cmp: (one) => this.#cmp(one),
    range: (one) => this.#range(one),
    lookup: (one) => this.#lookup(one),
    immediate: (one) => this.#immediate(one),
    counter: ({ fields: { packets } }) => ({ kind: "counter", packets: Number(packets ?? 0) }),
    redir: () => this.#constant && { kind: "statement", text: `redirect to :${bigEndian(this.#constant)}` },
    tproxy: (one) => this.#tproxy(one),
    log: (one) => ({ kind: "log", group: number(one, "group"), prefix: String(one.fields["prefix"] ?? "") }),
    match: (one) => extension(one, "match"),
    target: (one) => extension(one, "target"),
  };

  #load(loaded: Loaded | undefined): Read {
    this.#loaded = loaded;
    this.#constant = undefined;
    this.#least = undefined;
    return loaded && MORE;
  }

  #ct(one: Expression): Read {
    const key = number(one, "key");
    if (one.fields["source"] === undefined) return this.#load(CT_FIELDS[key]);
    return key === CT.zone ? this.#set(one, "ct zone", CT.zone) : this.#set(one, "ct mark", CT.mark);
  }

  /** Reads a statement that sets a value, such as `meta mark set 7` or `ct mark set meta mark`. */
  #set(one: Expression, what: string, key: number): Read {
    const from = this.#constant === undefined ? this.#loaded?.field : String(littleEndian(this.#constant));
    if (number(one, "key") !== key || from === undefined) return undefined;
    return { kind: "statement", text: `${what} set ${from}` };
  }

  #payload(one: Expression): Read {
    const [base, offset, size] = [number(one, "base"), number(one, "offset"), number(one, "size")];
    if (base === BASE.network) return this.#load(this.#addressField(offset, size));
    const side = PORT_FIELDS[offset];
    const isPort = base === BASE.transport && size === 2 && this.#protocol !== "" && side !== undefined;
    return this.#load(isPort ? { field: `${this.#protocol} ${side}`, show: bigEndian } : undefined);
  }

  #addressField(offset: number, size: number): Loaded | undefined {
    const family = this.#family;
    if (family === undefined || size > ADDRESS[family].size) return undefined;
    const side = offset === ADDRESS[family].source ? "saddr" : "daddr";
    if (side === "daddr" && offset !== ADDRESS[family].destination) return undefined;
    return {
      field: `${family === 4 ? "ip" : "ip6"} ${side}`,
      size: ADDRESS[family].size,
      show: (data) => `${addressText(addressOf(data, family))}/${this.#bits(data)}`,
    };
  }

  /** Returns the prefix length of an address: the bits set in the mask, or all compared bits if there is no mask. */
  #bits(data: Uint8Array): number {
    const mask = this.#loaded?.mask;
    return mask === undefined ? data.length * 8 : mask.reduce((sum, byte) => sum + bitCount(byte), 0);
  }

  #bitwise(one: Expression): Read {
    const mask = one.fields["mask"];
    if (this.#loaded === undefined || !(mask instanceof Uint8Array) || number(one, "operator") !== 0) return undefined;
    const states = this.#loaded.field === "ct state" ? { show: () => stateNames(littleEndian(mask)) } : {};
    return this.#load({ ...this.#loaded, mask, ...states });
  }

  #cmp(one: Expression): Read {
    const { data } = one.fields;
    const operator = number(one, "operator");
    const value = data instanceof Uint8Array ? this.#shown(data) : undefined;
    if (value === undefined) return undefined;
    if (operator === COMPARE.atLeast) {
      this.#least = value;
      return MORE;
    }
    if (operator === COMPARE.atMost && this.#least !== undefined) {
      return this.#condition(`${this.#least}-${value}`, false);
    }
    // A rule tests `ct state` by comparing the masked bits with 0, so "not equal" means that a state matches.
    const isNegated = (operator === COMPARE.notEqual) !== (this.#loaded?.field === "ct state");
    return operator > COMPARE.notEqual ? undefined : this.#condition(value, isNegated);
  }

  #range(one: Expression): Read {
    const { from, to } = one.fields;
    const [first, last] = [from, to].map((end) => end instanceof Uint8Array ? this.#shown(end) : undefined);
    if (first === undefined || last === undefined) return undefined;
    return this.#condition(`${first}-${last}`, number(one, "operator") === COMPARE.notEqual);
  }

  #lookup(one: Expression): Read {
    const values = one.elements?.map((element) => this.#shown(element));
    if (values === undefined || values.includes(undefined)) return undefined;
    return this.#condition(`{ ${values.join(", ")} }`, number(one, "flags") === 1);
  }

  #shown(data: Uint8Array): string | undefined {
    const { mask, size, field, show } = this.#loaded ?? {};
    const isMasked = mask !== undefined && size === undefined && field !== "ct state";
    return isMasked ? `${show?.(data)}/0x${littleEndian(mask).toString(16)}` : show?.(data);
  }

  #condition(value: string, negated: boolean): Read {
    const field = this.#loaded?.field ?? "";
    this.#least = undefined;
    if (field === "nfproto" && !negated) {
      this.#family = value === "2" ? 4 : 6;
      return MORE;
    }
    if (field === "l4proto" && !negated) this.#protocol = value;
    return { kind: "condition", field, negated, value };
  }

  #immediate({ fields: { data } }: Expression): Read {
    if (data instanceof Uint8Array) {
      this.#constant = data;
      return MORE;
    }
    if (typeof data !== "object" || !("code" in data)) return undefined;
    const name = Object.entries(VERDICT).find(([, code]) => code === data.code)?.[0];
    if (name === undefined) return undefined;
    return { kind: "verdict", text: data.chain === undefined ? name : `${name} ${data.chain}` };
  }

  #tproxy(one: Expression): Read {
    if (this.#constant === undefined || one.fields["address"] !== undefined) return undefined;
    const family = number(one, "family");
    const name = family === 2 ? " ip" : family === 10 ? " ip6" : "";
    return { kind: "statement", text: `tproxy${name} to :${bigEndian(this.#constant)}` };
  }
}

function extension(one: Expression, kind: "match" | "target"): Read {
  const { name, info } = one.fields;
  if (typeof name !== "string" || !(info instanceof Uint8Array)) return undefined;
  return { kind, name, revision: number(one, "revision"), info };
}

function unknown({ kind, fields }: Expression): Part {
  const values = Object.entries(fields).map(([name, value]) => ` ${name} ${valueText(value)}`);
  return { kind: "unknown", text: `[${kind}${values.join("")}]` };
}

/** The ports of a TCP or UDP header by their offset. */
const PORT_FIELDS: Readonly<Record<number, string | undefined>> = { 0: "sport", 2: "dport" };

const META_FIELDS: Readonly<Record<number, Loaded | undefined>> = {
  [META.mark]: { field: "meta mark", show: littleEndianText },
  [META.iifname]: { field: "iifname", show: interfaceName },
  [META.oifname]: { field: "oifname", show: interfaceName },
  [META.skuid]: { field: "skuid", show: littleEndianText },
  [META.skgid]: { field: "skgid", show: littleEndianText },
  [META.nfproto]: { field: "nfproto", show: bigEndian },
  [META.l4proto]: { field: "l4proto", show: protocolName },
};

const CT_FIELDS: Readonly<Record<number, Loaded | undefined>> = {
  [CT.state]: { field: "ct state", show: littleEndianText },
  [CT.mark]: { field: "ct mark", show: littleEndianText },
};

function number({ fields }: Expression, name: string): number {
  const value = fields[name];
  return typeof value === "number" ? value : 0;
}

/** Formats a number in network byte order. */
function bigEndian(data: Uint8Array): string {
  return String(data.reduce((sum, byte) => sum * 256 + byte, 0));
}

function littleEndian(data: Uint8Array): number {
  return data.toReversed().reduce((sum, byte) => sum * 256 + byte, 0);
}

function littleEndianText(data: Uint8Array): string {
  return String(littleEndian(data));
}

/** Formats an interface name. A name without its final NUL is a prefix. */
function interfaceName(data: Uint8Array): string {
  const end = data.indexOf(0);
  return new TextDecoder().decode(end < 0 ? data : data.subarray(0, end)) + (end < 0 ? "*" : "");
}

function protocolName(data: Uint8Array): string {
  const known = Object.entries(PROTOCOL).find(([, protocol]) => protocol === data[0]);
  return known?.[0] ?? bigEndian(data);
}

function stateNames(bits: number): string {
  return Object.entries(STATES).filter(([, bit]) => (bits & bit) !== 0).map(([name]) => name.toLowerCase()).join();
}

/** Decodes an address. Bytes that the rule does not compare are zero. */
function addressOf(data: Uint8Array, family: 4 | 6): Address {
  const whole = new Uint8Array(ADDRESS[family].size);
  whole.set(data.subarray(0, whole.length));
  return addressIn(whole);
}

function valueText(value: Value | undefined): string {
  if (value instanceof Uint8Array) return `0x${[...value].map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
  return typeof value === "object" ? `${value.code} ${value.chain ?? ""}`.trim() : String(value);
}

/** Returns the comment in a rule's user data (libnftnl: records of type, length and text; a comment has type 0). */
export function commentOf({ userData }: Pick<KernelRule, "userData">): string | undefined {
  for (let at = 0; userData !== undefined && at + 2 <= userData.length;) {
    const [type, size = 0] = userData.subarray(at, at + 2);
    if (type === 0) return new TextDecoder().decode(userData.subarray(at + 2, at + 1 + size));
    at += 2 + size;
  }
  return undefined;
}
