/**
 * A pair of virtual interfaces in this network namespace (veth(4)): what is sent into one end comes in at the other, as
 * from a stranger. It lives as long as a proof, and nothing that passes it leaves the namespace.
 */
import type { Address } from "../../../core/net.ts";
import { type Socket, type SystemCalls, SystemError } from "../../../core/world/mod.ts";
import { ask, type Attribute, attributeBytes, FLAGS, NETLINK_ROUTE, u32 } from "../../kernel/netlink.ts";
import { addressBytes } from "../../kernel/routing.ts";
import type { Family } from "../../plan/rule.ts";

const MESSAGE = { newLink: 16, deleteLink: 17, newAddress: 20 } as const;
const LINK = { address: 1, name: 3, info: 18, kind: 1, data: 2, peer: 1 } as const;
const ADDRESS = { address: 1, local: 2 } as const;
const UP = 1;
const WITHOUT_ARP = 0x80;
const WITHOUT_DUPLICATE_CHECK = 2;
const CREATE = FLAGS.ack | FLAGS.create | FLAGS.exclusive;
const FAMILY_NUMBERS: Readonly<Record<Family, number>> = { 4: 2, 6: 10 };

/** Names and hardware addresses (locally administered) of the ends. */
const OUTER = { name: "meshprobe0", hardware: Uint8Array.of(2, 0x6d, 0x65, 0x73, 0x68, 0) };
const INNER = { name: "meshprobe1", hardware: Uint8Array.of(2, 0x6d, 0x65, 0x73, 0x68, 1) };
/** Bits of the block that both ends are of. */
export const CABLE_BITS: Readonly<Record<Family, number>> = { 4: 30, 6: 126 };

/** The cable, plugged in. */
export interface Cable {
  /** What is sent and received here is at the outer end. */
  readonly socket: Socket;
  readonly outerHardware: Uint8Array;
  readonly innerHardware: Uint8Array;
  /** Gives the inner end an address, so that the pod can answer its block. */
  addAddress(address: Address): void;
  remove(): void;
}

/** Plugs a cable in. Throws `SystemError` without NET_ADMIN and NET_RAW, or where the kernel has no veth. */
export function plugIn(system: SystemCalls): Cable {
  unplug(system);
  const peer = joinedBytes([linkHeader(WITHOUT_ARP), ...endAttributes(INNER).map(attributeBytes)]);
  const info: Attribute[] = [[LINK.kind, text("veth")], [LINK.data, attributeBytes([LINK.peer, peer])]];
  changeLink(system, { type: MESSAGE.newLink, flags: CREATE, linkFlags: WITHOUT_ARP }, [
    ...endAttributes(OUTER),
    [LINK.info, joinedBytes(info.map(attributeBytes))],
  ]);
  try {
    // An end can only be up when the other one is there.
    for (const { name } of [OUTER, INNER]) {
      changeLink(system, { type: MESSAGE.newLink, flags: FLAGS.ack, linkFlags: UP }, [[LINK.name, text(name)]]);
    }
    const socket = system.openSocket({ kind: "packet", family: 4 });
    socket.bindInterface(system.interfaceIndex(OUTER.name) ?? 0);
    return {
      socket,
      outerHardware: OUTER.hardware,
      innerHardware: INNER.hardware,
      addAddress: (address) => addAddress(system, address),
      remove() {
        socket.close();
        unplug(system);
      },
    };
  } catch (error) {
    unplug(system);
    throw error;
  }
}

/** Takes the cable out; also one that a run that was killed left behind. */
function unplug(system: SystemCalls): void {
  if (system.interfaceIndex(OUTER.name) === undefined) return;
  try {
    changeLink(system, { type: MESSAGE.deleteLink, flags: FLAGS.ack, linkFlags: 0 }, [[LINK.name, text(OUTER.name)]]);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
  }
}

function changeLink(
  system: SystemCalls,
  message: { readonly type: number; readonly flags: number; readonly linkFlags: number },
  attributes: readonly Attribute[],
): void {
  const { type, flags, linkFlags } = message;
  ask(system, { protocol: NETLINK_ROUTE, type, flags, header: linkHeader(linkFlags), attributes });
}

/** `struct ifinfomsg` that sets some flags of an interface. */
function linkHeader(flags: number): Uint8Array {
  return joinedBytes([new Uint8Array(8), u32(flags), u32(flags)]);
}

function endAttributes({ name, hardware }: typeof OUTER): Attribute[] {
  return [[LINK.name, text(name)], [LINK.address, hardware]];
}

function addAddress(system: SystemCalls, address: Address): void {
  const flags = address.family === 6 ? WITHOUT_DUPLICATE_CHECK : 0;
  const head = Uint8Array.of(FAMILY_NUMBERS[address.family], CABLE_BITS[address.family], flags, 0);
  const header = joinedBytes([head, u32(system.interfaceIndex(INNER.name) ?? 0)]);
  const value = addressBytes(address.value, address.family);
  const attributes: Attribute[] = [[ADDRESS.local, value], [ADDRESS.address, value]];
  ask(system, { protocol: NETLINK_ROUTE, type: MESSAGE.newAddress, flags: CREATE, header, attributes });
}

function text(word: string): Uint8Array {
  return new TextEncoder().encode(`${word}\0`);
}

function joinedBytes(parts: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]));
}
