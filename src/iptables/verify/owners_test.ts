import assert from "node:assert/strict";
import { readSettings } from "../settings/read.ts";
import { applicationOwner, holds, type Identity, identityOf, proxyOwner } from "./owners.ts";

const NAMES = { users: new Map([["app", 1000]]), groups: new Map([["java", 201]]) };
const ROOT: Identity = { uid: 0, gid: 0, maySetUid: true, maySetGid: true, hasNetAdmin: true, hasNetRaw: true };
const INIT: Identity = { ...ROOT, maySetUid: false, maySetGid: false };
const PROXY: Identity = { ...INIT, uid: 1337, gid: 1337, hasNetAdmin: false, hasNetRaw: false };

function capture(flags: readonly string[] = [], env: Record<string, string> = {}) {
  const { settings } = readSettings(["-u", "1337", ...flags], env, NAMES);
  assert.ok(settings);
  return settings.capture;
}

Deno.test("applicationOwner(): a user that is not the proxy sends as itself", () => {
  assert.deepEqual(applicationOwner(capture(), ROOT, NAMES), { uid: undefined, gid: undefined });
  assert.deepEqual(applicationOwner(capture(), INIT, NAMES), { uid: undefined, gid: undefined });
});

Deno.test("applicationOwner(): root as the proxy, or excluded: another user, with the capability", () => {
  assert.deepEqual(applicationOwner(capture(["-u", "1337,0"]), ROOT, NAMES), { uid: 1000, gid: 1000 });
  assert.deepEqual(applicationOwner(capture(["--exclude-uid", "0,app"]), ROOT, NAMES), { uid: 1001, gid: undefined });
  assert.match(String(applicationOwner(capture(["-u", "1337,0"]), INIT, NAMES)), /user 0 .* capability SETUID/);
});

Deno.test("applicationOwner(): a group whose traffic is captured", () => {
  const only = capture([], { ISTIO_OUTBOUND_OWNER_GROUPS: "java" });
  assert.deepEqual(applicationOwner(only, ROOT, NAMES), { uid: undefined, gid: 201 });
  assert.match(String(applicationOwner(only, INIT, NAMES)), /capability SETGID/);
  const without = capture([], { ISTIO_OUTBOUND_OWNER_GROUPS_EXCLUDE: "0-999" });
  assert.deepEqual(applicationOwner(without, ROOT, NAMES), { uid: undefined, gid: 1000 });
});

Deno.test("applicationOwner(): the proxy is not an application", () => {
  assert.match(String(applicationOwner(capture(), PROXY, NAMES)), /do not match user 1337 as an application/);
});

Deno.test("proxyOwner(): the proxy itself, root with SETUID, no other user", () => {
  assert.deepEqual(proxyOwner(capture(), PROXY, NAMES), { uid: undefined, gid: undefined });
  assert.deepEqual(proxyOwner(capture(), ROOT, NAMES), { uid: 1337, gid: undefined });
  assert.match(String(proxyOwner(capture(), INIT, NAMES)), /user 0 is not the proxy/);
});

Deno.test("holds(): numbers, ranges and names", () => {
  for (const list of [["1000"], ["5", "990-1010"], ["app"]]) assert.ok(holds(list, 1000, NAMES.users), list.join());
  for (const list of [[], ["100"], ["990-999"], ["java"]]) assert.ok(!holds(list, 1000, NAMES.users), list.join());
});

function status(uid: number, capabilities: string): string {
  return `Name:\tx\nUid:\t${uid}\t${uid}\t${uid}\t${uid}\nGid:\t5\t5\t5\t7\nCapInh:\tffffffffffffffff\nCapEff:\t${capabilities}\n`;
}

Deno.test("identityOf() of the init container: root with NET_ADMIN and NET_RAW alone", () => {
  assert.deepEqual(identityOf(status(0, "0000000000003000")), {
    uid: 0,
    gid: 7,
    maySetUid: false,
    maySetGid: false,
    hasNetAdmin: true,
    hasNetRaw: true,
  });
});

Deno.test("identityOf() of a user without capabilities, and of root with all", () => {
  const none = identityOf(status(1337, "0000000000000000"));
  assert.deepEqual([none.uid, none.maySetUid, none.hasNetAdmin], [1337, false, false]);
  const all = identityOf(status(0, "000001ffffffffff"));
  assert.deepEqual([all.maySetUid, all.maySetGid, all.hasNetRaw], [true, true, true]);
});
