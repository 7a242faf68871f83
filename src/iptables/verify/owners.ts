/** As whom a flow is sent, so that the rules take it for an application's, or for the proxy's. */
import type { OwnerNames } from "../kernel/xtables/rule_options.ts";
import type { CaptureSettings } from "../settings/settings.ts";
import type { Owner } from "./flow.ts";
import type { Identity } from "./identity.ts";

/** Users and groups that are tried after one's own: numbers that images give to applications, and "nobody". */
const STRANGERS: readonly number[] = [1000, 1001, 10001, 65534, 4242];

/** An owner whose traffic the rules are to capture; in words why there is none. */
export function applicationOwner(settings: CaptureSettings, me: Identity, names: OwnerNames): Owner | string {
  const isProxy = (id: number) => holds(settings.proxyUids, id, names.users);
  const spared = [...settings.excludeUids, ...settings.excludePortsForUids.flatMap(({ uids }) => uids)];
  const uid = choose([me.uid, ...STRANGERS], (id) => !isProxy(id) && !holds(spared, id, names.users));
  if (uid === undefined) return "every user that could send it is excluded";
  if (uid !== me.uid && !me.maySetUid) return `${whoIs(me)} is not an application for the rules${cannotBe("SETUID")}`;
  const gid = choose(
    [me.gid, ...included(settings, names), ...STRANGERS],
    (id) => isCapturedGroup(settings, id, names),
  );
  if (gid === undefined) return "every group that could send it is excluded";
  if (gid !== me.gid && !me.maySetGid) return `the rules do not capture the group ${me.gid}${cannotBe("SETGID")}`;
  return { uid: unlessOwn(uid, me.uid), gid: unlessOwn(gid, me.gid) };
}

/** An owner whom the rules take for the proxy; in words why there is none. */
export function proxyOwner(settings: CaptureSettings, me: Identity, names: OwnerNames): Owner | string {
  if (holds(settings.proxyUids, me.uid, names.users)) return { uid: undefined, gid: undefined };
  const [uid] = numbers(settings.proxyUids, names.users);
  if (uid === undefined) return "the proxy has no user";
  return me.maySetUid ? { uid, gid: undefined } : `${whoIs(me)} is not the proxy${cannotBe("SETUID")}`;
}

function whoIs({ uid }: Identity): string {
  return `this process is user ${uid}, which`;
}

function cannotBe(capability: string): string {
  return `, and it may not become another without the capability ${capability}`;
}

function unlessOwn(id: number, own: number): number | undefined {
  return id === own ? undefined : id;
}

function choose(candidates: readonly number[], fits: (id: number) => boolean): number | undefined {
  return candidates.find(fits);
}

function included({ ownerGroups }: CaptureSettings, { groups }: OwnerNames): number[] {
  return ownerGroups === "*" ? [] : numbers(ownerGroups, groups);
}

function isCapturedGroup(settings: CaptureSettings, gid: number, { groups }: OwnerNames): boolean {
  if (holds(settings.proxyGids, gid, groups)) return false;
  if (settings.ownerGroups !== "*") return holds(settings.ownerGroups, gid, groups);
  return !holds(settings.ownerGroupsExclude, gid, groups);
}

/** Whether an item of a list is this number, a range around it or a name of it. */
export function holds(list: readonly string[], id: number, names: ReadonlyMap<string, number>): boolean {
  return list.some((item) => {
    const [, first, last = first] = /^(\d+)(?:-(\d+))?$/.exec(item) ?? [];
    return first === undefined ? names.get(item) === id : Number(first) <= id && id <= Number(last);
  });
}

function numbers(list: readonly string[], names: ReadonlyMap<string, number>): number[] {
  return list.flatMap((item) => /^\d/.test(item) ? Number.parseInt(item, 10) : names.get(item) ?? []);
}
