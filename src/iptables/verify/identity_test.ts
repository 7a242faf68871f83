import assert from "node:assert/strict";
import { identityOf } from "./identity.ts";

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
