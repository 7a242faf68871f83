/**
 * For generated settings, this program's netlink messages make the rules that nft and iptables-nft-restore make from
 * the plan's text. This program recognises the rules of both.
 */
import assert from "node:assert/strict";
import fc from "fast-check";
import { isLong, printFigure } from "../../support/long.ts";
import { testWhen } from "../../support/test_when.ts";
import { seedOfRun } from "../faults/support/random.ts";
import { BACK_ENDS } from "./support/back_ends.ts";
import { type GeneratedRun, generatedRun } from "./support/generated_settings.ts";
import { type Namespace, Pair, startSaying } from "./support/pod.ts";

startSaying();

const MISSING = BACK_ENDS.map(({ missing }) => missing).find((reason) => reason !== undefined);
const RUNS = isLong() ? 1000 : 25;

async function apply(pod: Namespace, { flags, env }: GeneratedRun, ...more: readonly string[]): Promise<string> {
  const { code, stderr } = await pod.say(["istio-iptables", ...flags, ...more], { env: { ...env } });
  assert.equal(code, 0, `${flags.join(" ")} ${JSON.stringify(env)}: ${stderr}`);
  return stderr;
}

/** What nft and iptables list, tables in alphabetical order. */
async function listed(pod: Namespace, backEnd: string): Promise<string> {
  if (backEnd === "nft") return await pod.shell("nft -s list ruleset");
  const text = await pod.shell("iptables-nft-save; ip6tables-nft-save");
  const plain = text.replaceAll(/^#.*\n/gm, "").replaceAll(/ \[\d+:\d+\]$/gm, "");
  return [...plain.matchAll(/^\*[^]*?^COMMIT$/gm)].map(([table]) => table).sort().join("\n");
}

testWhen(MISSING, "thousands of rules are one transaction", async () => {
  await using pair = await Pair.create();
  const ports = Array.from({ length: 2000 }, (_, at) => 2 * at + 1).join();
  for (const backEnd of ["iptables-nft", "nft"]) {
    const run = { flags: ["-u", "1337", "-i", "*", "-o", ports, "--dual-stack", "--backend", backEnd], env: {} };
    await apply(pair.pod, run);
    assert.match(await apply(pair.pod, run), /nothing to change/i);
  }
});

for (const { name, missing } of BACK_ENDS.filter((backEnd) => backEnd.name !== "iptables-legacy")) {
  testWhen(missing, `${RUNS} generated settings make the same rules by netlink and by programs: ${name}`, async () => {
    const seed = Math.trunc(seedOfRun());
    await using programs = await Pair.create();
    await using netlink = await Pair.create();
    let rules = 0;
    await fc.assert(
      fc.asyncProperty(generatedRun, async (run) => {
        const backEnd = ["--backend", name];
        for (const { pod } of [programs, netlink]) await pod.shell("nft flush ruleset");
        await apply(programs.pod, run, ...backEnd, "--via", "programs");
        await apply(netlink.pod, run, ...backEnd);
        const [wanted, got] = [await listed(programs.pod, name), await listed(netlink.pod, name)];
        assert.equal(got, wanted, run.flags.join(" "));
        assert.match(await apply(programs.pod, run, ...backEnd), /nothing to change/i);
        assert.match(await apply(netlink.pod, run, ...backEnd), /nothing to change/i);
        rules += wanted.split("\n").length;
      }),
      { numRuns: RUNS, seed },
    );
    printFigure(`${name}, seed ${seed}: ${RUNS} settings, ${rules} lines of rules alike`);
  });
}
