/**
 * Creates a veth pair in this network namespace (veth(4)). A packet sent at the outer end arrives at the inner end as
 * if from another pod. Packets on the pair stay in the namespace.
 */
import { joinBytes } from "../../../base/bytes.ts";
import type { Address } from "../../../golang/net/mod.ts";
import { type SystemCalls, SystemError } from "../../../platform/mod.ts";
import { askRoute, type Attribute, attributeBytes, CREATE, FLAGS, textBytes, u32 } from "../../kernel/netlink.ts";
import { changeAddress } from "../../kernel/routing.ts";
import type { Family } from "../../plan/rule.ts";

const MESSAGE = { newLink: 16, deleteLink: 17 } as const;
const LINK = { address: 1, name: 3, info: 18, kind: 1, data: 2, peer: 1 } as const;
const UP = 1;
const WITHOUT_ARP = 0x80;
const WITHOUT_DUPLICATE_CHECK = 2;

/** The names of the ends, and their locally administered MAC addresses. */
const OUTER = { name: "meshprobe0", hardware: Uint8Array.of(2, 0x6d, 0x65, 0x73, 0x68, 0) };
const INNER = { name: "meshprobe1", hardware: Uint8Array.of(2, 0x6d, 0x65, 0x73, 0x68, 1) };
/** The prefix length of the block that both ends share. */
export const PREFIX_BITS: Readonly<Record<Family, number>> = { 4: 30, 6: 126 };

export type VethPair = ReturnType<typeof createVethPair>;

/** Creates the pair. Throws a `SystemError` without NET_ADMIN and NET_RAW, and on a kernel without veth. */
export function createVethPair(system: SystemCalls) {
  removePair(system);
  const peer = joinBytes([linkHeader(WITHOUT_ARP), ...endAttributes(INNER).map(attributeBytes)]);
  const info: Attribute[] = [[LINK.kind, textBytes("veth")], [LINK.data, attributeBytes([LINK.peer, peer])]];
  changeLink(system, { type: MESSAGE.newLink, flags: CREATE, linkFlags: WITHOUT_ARP }, [
    ...endAttributes(OUTER),
    [LINK.info, joinBytes(info.map(attributeBytes))],
  ]);
  try {
    // The kernel can set an end up only after its peer exists.
    for (const { name } of [OUTER, INNER]) {
      changeLink(system, { type: MESSAGE.newLink, flags: FLAGS.ack, linkFlags: UP }, [[LINK.name, textBytes(name)]]);
    }
    const socket = system.openSocket({ kind: "packet", family: 4 });
    socket.bindInterface(system.interfaceIndex(OUTER.name) ?? 0);
    return {
      /** A packet socket at the outer end. */
      socket,
      outerHardware: OUTER.hardware,
      innerHardware: INNER.hardware,
      /** Gives the inner end an address, so that the pod has a route for replies. */
      addAddress(address: Address): void {
        const index = system.interfaceIndex(INNER.name) ?? 0;
        const flags = address.family === 6 ? WITHOUT_DUPLICATE_CHECK : 0;
        changeAddress(system, "add", { index, cidr: { address, bits: PREFIX_BITS[address.family] }, flags });
      },
      remove(): void {
        socket.close();
        removePair(system);
      },
    };
  } catch (error) {
    removePair(system);
    throw error;
  }
}

/** Removes the pair, including a pair that a killed run left behind. */
function removePair(system: SystemCalls): void {
  if (system.interfaceIndex(OUTER.name) === undefined) return;
  try {
    changeLink(system, { type: MESSAGE.deleteLink, flags: FLAGS.ack, linkFlags: 0 }, [[
      LINK.name,
      textBytes(OUTER.name),
    ]]);
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
  askRoute(system, { type, flags, header: linkHeader(linkFlags), attributes });
}

function linkHeader(flags: number): Uint8Array {
  return joinBytes([new Uint8Array(8), u32(flags), u32(flags)]);
}

function endAttributes({ name, hardware }: typeof OUTER): Attribute[] {
  return [[LINK.name, textBytes(name)], [LINK.address, hardware]];
}
