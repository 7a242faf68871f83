/**
 * Encodes and decodes expressions of nf_tables rules. Attribute types and numbers come from
 * linux/netfilter/nf_tables.h and nf_tables_compat.h (`enum nft_*_attributes`). An unknown expression stays as bytes.
 */
import { joinBytes } from "../../../base/bytes.ts";
import {
  type Attribute,
  attributeList,
  attributesOf,
  nested,
  numberOfBigEndian,
  textBytes,
  textOf,
  u32BigEndian,
} from "../netlink.ts";

/** The verdict of a rule, such as `accept` or `jump CHAIN`. */
export interface Verdict {
  readonly code: number;
  readonly chain?: string;
}

/** Codes of verdicts (linux/netfilter.h, `enum nft_verdicts`). */
export const VERDICT = { drop: 0, accept: 1, jump: -3, goto: -4, return: -5 } as const;

interface Values {
  readonly number: number;
  readonly text: string;
  readonly bytes: Uint8Array;
  /** The number of packets or bytes in a counter. */
  readonly count: bigint;
  readonly data: Uint8Array | Verdict;
  readonly short: number;
  readonly byte: number;
}

/** Types and forms of the attributes of each expression, in the order in which nft sends them. */
const EXPRESSIONS = {
  meta: { key: [2, "number"], register: [1, "number"], source: [3, "number"] },
  payload: { register: [1, "number"], base: [2, "number"], offset: [3, "number"], size: [4, "number"] },
  cmp: { source: [1, "number"], operator: [2, "number"], data: [3, "data"] },
  range: { source: [1, "number"], operator: [2, "number"], from: [3, "data"], to: [4, "data"] },
  bitwise: {
    source: [1, "number"],
    register: [2, "number"],
    operator: [6, "number"],
    size: [3, "number"],
    mask: [4, "data"],
    xor: [5, "data"],
  },
  byteorder: {
    source: [1, "number"],
    register: [2, "number"],
    operator: [3, "number"],
    length: [4, "number"],
    size: [5, "number"],
  },
  immediate: { register: [1, "number"], data: [2, "data"] },
  lookup: { source: [2, "number"], set: [1, "text"], setId: [4, "number"], flags: [5, "number"] },
  counter: { bytes: [1, "count"], packets: [2, "count"] },
  ct: { key: [2, "number"], register: [1, "number"], direction: [3, "byte"], source: [4, "number"] },
  redir: { first: [1, "number"], last: [2, "number"], flags: [3, "number"] },
  tproxy: { family: [1, "number"], address: [2, "number"], port: [3, "number"] },
  log: { group: [1, "short"], prefix: [2, "text"], length: [3, "number"], threshold: [4, "short"] },
  match: { name: [1, "text"], revision: [2, "number"], info: [3, "bytes"] },
  target: { name: [1, "text"], revision: [2, "number"], info: [3, "bytes"] },
} as const;

type Kind = keyof typeof EXPRESSIONS;
type Field = readonly [type: number, kind: keyof Values];
export type Value = Values[keyof Values];

/** An expression of a rule. An unknown expression has a single field with its bytes. */
export interface Expression {
  readonly kind: string;
  readonly fields: Readonly<Record<string, Value | undefined>>;
  /** The members of the anonymous set of a `lookup`, as keys in network byte order. */
  readonly elements?: readonly Uint8Array[];
}

type FieldName = { readonly [K in Kind]: keyof (typeof EXPRESSIONS)[K] }[Kind];

/** Returns an expression with the given fields of its kind. */
export function expression(kind: Kind, fields: Readonly<Partial<Record<FieldName, Value>>>): Expression {
  return { kind, fields };
}

const ELEMENT = 1;
const EXPRESSION = { name: 1, data: 2 } as const;

/** Encodes an expression as an element of a list (NFTA_LIST_ELEM). */
export function expressionAttribute({ kind, fields }: Expression): Attribute {
  const known = fieldsOf(kind);
  const data: Attribute = known === undefined
    ? [0x8000 | EXPRESSION.data, fields["bytes"] instanceof Uint8Array ? fields["bytes"] : new Uint8Array()]
    : nested(
      EXPRESSION.data,
      known.flatMap(([name, [type, form]]) => {
        const value = fields[name];
        return value === undefined ? [] : [attribute(type, form, value)];
      }),
    );
  return nested(ELEMENT, [[EXPRESSION.name, textBytes(kind)], data]);
}

/** Decodes the expressions in the bytes of NFTA_RULE_EXPRESSIONS. */
export function expressionsOf(bytes: Uint8Array | undefined): Expression[] {
  return attributeList(bytes).map(([, element]) => {
    const attributes = attributesOf(element);
    const kind = textOf(attributes.get(EXPRESSION.name));
    const data = attributes.get(EXPRESSION.data) ?? new Uint8Array();
    const known = fieldsOf(kind);
    if (known === undefined) return { kind, fields: { bytes: data } };
    const values = attributesOf(data);
    const fields = known.flatMap(([name, [type, form]]) => {
      const value = values.get(type);
      return value === undefined ? [] : [[name, valueOf(form, value)] as const];
    });
    return { kind, fields: Object.fromEntries(fields) };
  });
}

function fieldsOf(kind: string): readonly (readonly [string, Field])[] | undefined {
  const known: Readonly<Record<string, Readonly<Record<string, Field>>>> = EXPRESSIONS;
  return Object.hasOwn(known, kind) ? Object.entries(known[kind] ?? {}) : undefined;
}

const DATA = { value: 1, verdict: 2 } as const;
const VERDICT_FIELD = { code: 1, chain: 2 } as const;

/** Sizes in bytes of the numbers that are shorter than 32 bits. */
const SIZES: Readonly<Partial<Record<keyof Values, number>>> = { byte: 1, short: 2 };

function attribute(type: number, form: keyof Values, value: Value): Attribute {
  if (typeof value === "number") return [type, u32BigEndian(value).subarray(4 - (SIZES[form] ?? 4))];
  if (typeof value === "bigint") {
    return [type, joinBytes([u32BigEndian(Number(value >> 32n)), u32BigEndian(Number(value & 0xffffffffn))])];
  }
  if (typeof value === "string") return [type, textBytes(value)];
  if (value instanceof Uint8Array) return form === "data" ? dataAttribute(type, value) : [type, value];
  const chain: Attribute[] = value.chain === undefined ? [] : [[VERDICT_FIELD.chain, textBytes(value.chain)]];
  const code: Attribute = [VERDICT_FIELD.code, u32BigEndian(value.code)];
  return nested(type, [nested(DATA.verdict, [code, ...chain])]);
}

/** Encodes a value as a nested attribute (NFTA_DATA_VALUE). */
export function dataAttribute(type: number, value: Uint8Array): Attribute {
  return nested(type, [[DATA.value, value]]);
}

/** Decodes the value in a nested attribute (NFTA_DATA_VALUE). */
export function dataOf(bytes: Uint8Array | undefined): Uint8Array {
  return attributesOf(bytes).get(DATA.value) ?? new Uint8Array();
}

function valueOf(form: keyof Values, bytes: Uint8Array): Value {
  switch (form) {
    case "number":
    case "short":
    case "byte":
      return bytes.reduce((sum, byte) => sum * 256 + byte, 0);
    case "text":
      return textOf(bytes);
    case "bytes":
      return bytes;
    case "count":
      return bytes.length < 8 ? 0n : new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0);
    case "data":
      return dataOrVerdict(bytes);
  }
}

function dataOrVerdict(bytes: Uint8Array): Uint8Array | Verdict {
  const verdict = attributesOf(bytes).get(DATA.verdict);
  if (verdict === undefined) return dataOf(bytes);
  const fields = attributesOf(verdict);
  const chain = fields.get(VERDICT_FIELD.chain);
  const code = numberOfBigEndian(fields.get(VERDICT_FIELD.code), 0) | 0;
  return chain === undefined ? { code } : { code, chain: textOf(chain) };
}

/** The register in which all rules load and compare values. */
export const REGISTER = 1;

/** Keys of `meta` (`enum nft_meta_keys`) and of `ct` (`enum nft_ct_keys`). */
export const META = { mark: 3, iifname: 6, oifname: 7, skuid: 10, skgid: 11, nfproto: 15, l4proto: 16 } as const;
export const CT = { state: 0, mark: 3, zone: 17 } as const;
/** The header from which a `payload` offset counts (`enum nft_payload_bases`). */
export const BASE = { network: 1, transport: 2 } as const;
/** Operators of `cmp` (`enum nft_cmp_ops`); `range` supports only the first two. */
export const COMPARE = { equal: 0, notEqual: 1, atMost: 3, atLeast: 5 } as const;
/** Offsets of the addresses in the IP header, and their size, by family (RFC 791, RFC 8200). */
export const ADDRESS = {
  4: { source: 12, destination: 16, size: 4 },
  6: { source: 8, destination: 24, size: 16 },
} as const;
/** Numbers of protocols (RFC 9293, RFC 768). */
export const PROTOCOL = { tcp: 6, udp: 17 } as const;

/** Loads a packet field into the register, in the encoding that iptables-nft and nft share. */
export const load = {
  meta: (key: number): Expression => expression("meta", { key, register: REGISTER }),
  ct: (key: number): Expression => expression("ct", { key, register: REGISTER }),
  payload: (base: number, offset: number, size: number): Expression =>
    expression("payload", { register: REGISTER, base, offset, size }),
};

/** Compares the register with a value; by default, for equality. */
export function compare(data: Uint8Array, isNegated = false, operator?: number): Expression {
  const equality = isNegated ? COMPARE.notEqual : COMPARE.equal;
  return expression("cmp", { source: REGISTER, operator: operator ?? equality, data });
}

/** Clears the bits of the register that are not in the mask. */
export function masked(mask: Uint8Array): Expression {
  return expression("bitwise", {
    source: REGISTER,
    register: REGISTER,
    size: mask.length,
    mask,
    xor: new Uint8Array(mask.length),
  });
}

/** A counter that starts at zero. */
export const COUNTER: Expression = expression("counter", {});

/** Ends a rule with a verdict. */
export function verdict(code: number, chain?: string): Expression {
  return expression("immediate", { register: 0, data: chain === undefined ? { code } : { code, chain } });
}
