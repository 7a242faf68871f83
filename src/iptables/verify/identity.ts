/** Who this process is and what it may do (proc(5), capabilities(7)). */
import type { World } from "../../core/world/mod.ts";

export interface Identity {
  readonly uid: number;
  readonly gid: number;
  readonly maySetUid: boolean;
  readonly maySetGid: boolean;
  readonly hasNetAdmin: boolean;
  readonly hasNetRaw: boolean;
}

const CAPABILITIES = { setGid: 6n, setUid: 7n, netAdmin: 12n, netRaw: 13n } as const;

/** Reads `/proc/self/status`. */
export async function readIdentity(world: World): Promise<Identity> {
  return identityOf(await world.files.readText("/proc/self/status"));
}

/** What such a text says of the file-system user and group, which a socket gets, and of the effective capabilities. */
export function identityOf(status: string): Identity {
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? "0"}`);
  const may = (bit: bigint) => (effective >> bit & 1n) === 1n;
  return {
    uid: lastNumber(status, "Uid"),
    gid: lastNumber(status, "Gid"),
    maySetUid: may(CAPABILITIES.setUid),
    maySetGid: may(CAPABILITIES.setGid),
    hasNetAdmin: may(CAPABILITIES.netAdmin),
    hasNetRaw: may(CAPABILITIES.netRaw),
  };
}

/** `Uid: real effective saved filesystem`. */
function lastNumber(status: string, field: string): number {
  return Number(new RegExp(`^${field}:.*\\s(\\d+)$`, "m").exec(status)?.[1] ?? NaN);
}
