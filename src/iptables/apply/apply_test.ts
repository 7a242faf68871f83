import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { encode } from "../kernel/netlink.ts";
import { makePlan } from "../plan/plan.ts";
import { readSettings } from "../settings/read.ts";
import { type ApplyOptions, converge } from "./apply.ts";

const NAMES = { users: new Map<string, number>(), groups: new Map<string, number>() };
const BATCH_BEGIN = 0x10;
/** Error numbers (errno(3)). */
const [EPERM, ENOENT, ERESTART] = [1, 2, 85];

/** A kernel without rules that refuses transactions with these error numbers, one after the other; 0 takes it. */
function kernelThatAnswers(...errors: number[]) {
  const transactions: Uint8Array[] = [];
  const netlink = (protocol: number, message: Uint8Array) => {
    const type = new DataView(message.buffer, message.byteOffset).getUint16(4, true);
    if (protocol !== 12 || type !== BATCH_BEGIN) {
      return encode({ protocol, type: 3, flags: 0, header: new Uint8Array(4) });
    }
    transactions.push(message);
    const answer = new DataView(new ArrayBuffer(4 + 16));
    answer.setInt32(0, -(errors.shift() ?? 0), true);
    // The place of the first rule: the frame, the table and the chains are before it.
    answer.setUint32(4 + 8, firstRule(message), true);
    return encode({ protocol, type: 2, flags: 0, header: new Uint8Array(answer.buffer) });
  };
  return { transactions, netlink };
}

function firstRule(batch: Uint8Array): number {
  const view = new DataView(batch.buffer, batch.byteOffset);
  for (let at = 0, place = 0; at < batch.length; at += view.getUint32(at, true), place++) {
    if (view.getUint16(at + 4, true) === 0xa06) return place;
  }
  return -1;
}

async function run(errors: readonly number[], programs: Record<string, string>) {
  const kernel = kernelThatAnswers(...errors);
  const world = fakeWorld({
    env: { PATH: "/usr/sbin" },
    files: programs,
    run: () => ({ code: 0, stdout: "", stderr: "", timedOut: false }),
    system: { netlink: kernel.netlink },
  });
  const { settings } = readSettings(["-u", "1337", "-i", "*"], {}, NAMES);
  assert.ok(settings);
  const plan = makePlan(settings.capture, { hasIpv6: false, dnsServers: [] });
  const warnings: string[] = [];
  const options: ApplyOptions = {
    native: false,
    forced: "nft",
    via: "netlink",
    comments: false,
    names: NAMES,
    waitMilliseconds: 0,
    log: () => {},
    warn: (line) => warnings.push(line),
  };
  const outcome = await converge(world, () => Promise.resolve(plan), options).catch((error: unknown) => error);
  const started = world.runs.map(({ command, args = [] }) => [command, ...args].join(" "));
  return { outcome, started, warnings, transactions: kernel.transactions };
}

const PROGRAMS = { "/usr/sbin/iptables-nft-restore": "", "/proc/self/ns/net": "" };

Deno.test("converge: uses a netlink transaction and no program", async () => {
  const { outcome, started, warnings, transactions } = await run([0], PROGRAMS);
  assert.ok(!(outcome instanceof Error), String(outcome));
  assert.deepEqual([started, warnings, transactions.length], [[], [], 1]);
});

Deno.test("converge: retries once if the rules have changed in the meantime", async () => {
  const { outcome, transactions } = await run([ERESTART, 0], PROGRAMS);
  assert.ok(!(outcome instanceof Error), String(outcome));
  assert.equal(transactions.length, 2);
  const again = await run([ERESTART, ERESTART, 0], PROGRAMS);
  assert.match(String(again.outcome), /Another program changed the rules at the same time/);
  assert.equal(again.transactions.length, 2);
});

Deno.test("converge: uses programs if the kernel refuses a rule over netlink", async () => {
  const { outcome, started, warnings } = await run([ENOENT], PROGRAMS);
  assert.ok(!(outcome instanceof Error), String(outcome));
  assert.deepEqual(started, ["iptables-nft-restore --noflush --test", "iptables-nft-restore --noflush"]);
  assert.match(
    warnings.join(),
    /nf_tables refused "-t nat -A ISTIO_INBOUND -p tcp --dport 15008 -j RETURN".*no such file.*using the iptables or nft programs instead/,
  );
});

Deno.test("converge: without programs the error names the rule and the kernel module", async () => {
  const { outcome, started } = await run([ENOENT], { "/proc/self/ns/net": "" });
  assert.ok(outcome instanceof Error);
  assert.match(outcome.message, /refused "-t nat -A ISTIO_INBOUND .*all changes were rolled back/);
  assert.match("hint" in outcome ? String(outcome.hint) : "", /modprobe/);
  assert.deepEqual(started, []);
});

Deno.test("converge: does not use programs after EPERM, because they have no more rights", async () => {
  const { outcome, started } = await run([EPERM], PROGRAMS);
  assert.match(outcome instanceof Error && "hint" in outcome ? String(outcome.hint) : "", /NET_ADMIN/);
  assert.deepEqual(started, []);
});
