/** The structures of the iptables extensions (linux/netfilter/xt_*.h) that the rules of any Istio release use. */

/** Forms of a field: numbers of 8, 16 and 32 bits in host byte order, or a port in network byte order. */
type Form = "u8" | "u16" | "u32" | "port";
type Layout = Readonly<Record<string, readonly [offset: number, form: Form]>>;

interface Structure {
  /** Size in bytes, with padding to 64 bits (XT_ALIGN). */
  readonly size: number;
  readonly fields: Layout;
}

const PORTS: Layout = { sourceFirst: [0, "u16"], sourceLast: [2, "u16"], first: [4, "u16"], last: [6, "u16"] };
const MARK: Structure = { size: 16, fields: { mark: [0, "u32"], mask: [4, "u32"], inverted: [8, "u8"] } };
const ZONE: Structure = { size: 72, fields: { flags: [0, "u16"], zone: [2, "u16"] } };

/** Structures by kind, name and revision of the extension. REDIRECT differs by address family. */
const STRUCTURES = {
  "match tcp 0": { size: 16, fields: { ...PORTS, inverted: [11, "u8"] } },
  "match udp 0": { size: 16, fields: { ...PORTS, inverted: [8, "u8"] } },
  "match owner 1": {
    size: 24,
    fields: {
      uidFirst: [0, "u32"],
      uidLast: [4, "u32"],
      gidFirst: [8, "u32"],
      gidLast: [12, "u32"],
      which: [16, "u8"],
      inverted: [17, "u8"],
    },
  },
  "match mark 1": MARK,
  "match connmark 1": MARK,
  "match multiport 1": { size: 48, fields: { side: [0, "u8"], count: [1, "u8"], inverted: [47, "u8"] } },
  "match conntrack 3": { size: 168, fields: { which: [146, "u16"], inverted: [148, "u16"], states: [150, "u16"] } },
  "match comment 0": { size: 256, fields: {} },
  "target REDIRECT 0 ip": {
    size: 24,
    fields: { ranges: [0, "u32"], flags: [4, "u32"], first: [16, "port"], last: [18, "port"] },
  },
  "target REDIRECT 0 ip6": { size: 40, fields: { flags: [0, "u32"], first: [36, "port"], last: [38, "port"] } },
  "target TPROXY 1": { size: 32, fields: { mask: [0, "u32"], mark: [4, "u32"], port: [24, "port"] } },
  "target MARK 2": { size: 8, fields: { mark: [0, "u32"], mask: [4, "u32"] } },
  "target CONNMARK 1": {
    size: 16,
    fields: { ctmark: [0, "u32"], ctmask: [4, "u32"], nfmask: [8, "u32"], mode: [12, "u8"] },
  },
  "target CONNMARK 2": {
    size: 16,
    fields: { ctmark: [0, "u32"], ctmask: [4, "u32"], nfmask: [8, "u32"], shift: [13, "u8"], mode: [14, "u8"] },
  },
  "target CT 1": ZONE,
  "target CT 2": ZONE,
  "target NFLOG 0": { size: 80, fields: { group: [4, "u16"] } },
} as const satisfies Readonly<Record<string, Structure>>;

/** Kind, name and revision of a known extension. */
export type ExtensionName = keyof typeof STRUCTURES;

/** Offsets in `multiport` of the ports and of the flags for range starts, and the maximum number of ports. */
export const MULTIPORT = { ports: 2, isRange: 32, max: 15 } as const;

/** Offsets of the first byte of the TPROXY address, and of the byte after the address. */
export const TPROXY_ADDRESS = [8, 24] as const;

/** Encodes the fields of an extension. Fields without a value are 0. */
export function extensionBytes(name: ExtensionName, values: Readonly<Record<string, number>>): Uint8Array {
  const { size, fields }: Structure = STRUCTURES[name];
  const view = new DataView(new ArrayBuffer(size));
  for (const [field, [offset, form]] of Object.entries(fields)) write(view, offset, form, values[field] ?? 0);
  return new Uint8Array(view.buffer);
}

/** Decodes the fields of an extension; returns `undefined` if the extension is unknown or too short. */
export function extensionFields(name: string, info: Uint8Array): Readonly<Record<string, number>> | undefined {
  const known: Readonly<Record<string, Structure>> = STRUCTURES;
  const structure = Object.hasOwn(known, name) ? known[name] : undefined;
  if (structure === undefined || info.length < structure.size) return undefined;
  const view = new DataView(info.buffer, info.byteOffset, info.byteLength);
  const { fields } = structure;
  return Object.fromEntries(Object.entries(fields).map(([field, [offset, form]]) => [field, read(view, offset, form)]));
}

function write(view: DataView, offset: number, form: Form, value: number): void {
  if (form === "u8") view.setUint8(offset, value);
  else if (form === "u32") view.setUint32(offset, value, true);
  else view.setUint16(offset, value, form === "u16");
}

function read(view: DataView, offset: number, form: Form): number {
  if (form === "u8") return view.getUint8(offset);
  return form === "u32" ? view.getUint32(offset, true) : view.getUint16(offset, form === "u16");
}
