/**
 * Chooses the user and group that send a flow, so that the rules match the flow as traffic of an application or of the
 * proxy.
 */
import type { World } from "../../platform/mod.ts";
import type { OwnerNames } from "../kernel/xtables/rule_options.ts";
import type { CaptureSettings } from "../settings/settings.ts";

/** A user and group. `undefined` means the user or group of this process. */
export interface Owner {
  readonly uid: number | undefined;
  readonly gid: number | undefined;
}

export interface Identity {
  readonly uid: number;
  readonly gid: number;
  readonly maySetUid: boolean;
  readonly maySetGid: boolean;
  readonly hasNetAdmin: boolean;
  readonly hasNetRaw: boolean;
}

const CAPABILITIES = { setGid: 6n, setUid: 7n, netAdmin: 12n, netRaw: 13n } as const;

/** Reads the identity of this process from `/proc/self/status`. */
export async function readIdentity(world: World): Promise<Identity> {
  return identityOf(await world.files.readText("/proc/self/status"));
}

/**
 * Parses the identity in the text of `/proc/PID/status`: the file-system user and group, which a socket gets, and the
 * effective capabilities.
 */
export function identityOf(status: string): Identity {
  const effective = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? "0"}`);
  const may = (bit: bigint) => (effective >> bit & 1n) === 1n;
  return {
    uid: numberIn(status, /^Uid:.*\s(\d+)$/m),
    gid: numberIn(status, /^Gid:.*\s(\d+)$/m),
    maySetUid: may(CAPABILITIES.setUid),
    maySetGid: may(CAPABILITIES.setGid),
    hasNetAdmin: may(CAPABILITIES.netAdmin),
    hasNetRaw: may(CAPABILITIES.netRaw),
  };
}

/** Returns the file-system ID in a line such as `Uid: real effective saved filesystem`. */
function numberIn(status: string, line: RegExp): number {
  return Number(line.exec(status)?.[1] ?? NaN);
}

/** Users and groups to try after the process's own: typical IDs of applications, and "nobody". */
const APPLICATION_IDS: readonly number[] = [1000, 1001, 10001, 65534, 4242];

/** Returns an owner whose traffic the rules capture, or the reason why this process cannot send as such an owner. */
export function applicationOwner(settings: CaptureSettings, me: Identity, names: OwnerNames): Owner | string {
  const excluded = [...settings.excludeUids, ...settings.excludePortsForUids.flatMap(({ uids }) => uids)];
  const uid = [me.uid, ...APPLICATION_IDS]
    .find((id) => !holds(settings.proxyUids, id, names.users) && !holds(excluded, id, names.users));
  if (uid === undefined) return "the rules exclude every user that could send the flow";
  if (uid !== me.uid && !me.maySetUid) {
    return `the rules do not match user ${me.uid} as an application${WITHOUT} SETUID`;
  }
  const groups = settings.ownerGroups === "*" ? [] : numbers(settings.ownerGroups, names.groups);
  const gid = [me.gid, ...groups, ...APPLICATION_IDS].find((id) => isCapturedGroup(settings, id, names));
  if (gid === undefined) return "the rules exclude every group that could send the flow";
  if (gid !== me.gid && !me.maySetGid) return `the rules do not capture group ${me.gid}${WITHOUT} SETGID`;
  return { uid: uid === me.uid ? undefined : uid, gid: gid === me.gid ? undefined : gid };
}

/** Returns an owner that the rules match as the proxy, or the reason why this process cannot send as such an owner. */
export function proxyOwner(settings: CaptureSettings, me: Identity, names: OwnerNames): Owner | string {
  if (holds(settings.proxyUids, me.uid, names.users)) return { uid: undefined, gid: undefined };
  const [uid] = numbers(settings.proxyUids, names.users);
  if (uid === undefined) return "the settings do not name a user of the proxy";
  return me.maySetUid ? { uid, gid: undefined } : `user ${me.uid} is not the proxy${WITHOUT} SETUID`;
}

const WITHOUT = ", and this process cannot switch to another without the capability";

function isCapturedGroup(settings: CaptureSettings, gid: number, { groups }: OwnerNames): boolean {
  if (holds(settings.proxyGids, gid, groups)) return false;
  if (settings.ownerGroups !== "*") return holds(settings.ownerGroups, gid, groups);
  return !holds(settings.ownerGroupsExclude, gid, groups);
}

/** Whether a list of numbers, ranges and names contains an ID. */
export function holds(list: readonly string[], id: number, names: ReadonlyMap<string, number>): boolean {
  return list.some((item) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(item) ?? [];
    return first === undefined ? names.get(item) === id : Number(first) <= id && id <= Number(last);
  });
}

function numbers(list: readonly string[], names: ReadonlyMap<string, number>): number[] {
  return list.flatMap((item) => /^\d/.test(item) ? Number.parseInt(item, 10) : names.get(item) ?? []);
}
