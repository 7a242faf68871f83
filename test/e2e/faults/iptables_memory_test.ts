/**
 * The kernel refuses memory to `iptables apply`: strace(1) lets one network call fail, first the first call, then the
 * second, and so on. Each run succeeds, or leaves the old rules and says so.
 */
import assert from "node:assert/strict";
import { isLong, printFigure } from "../../support/long.ts";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { BACK_ENDS, PROGRAM_BACK_ENDS } from "../iptables/support/back_ends.ts";
import { Pair, type Ran } from "../iptables/support/pod.ts";
import { type State, stateOf } from "../iptables/support/state.ts";

const ARGS = ["istio-iptables", "-u", "1337", "-m", "TPROXY", "-i", "*", "-b", "*"];
/** The number of calls that fail in turn, one in each run. */
const CALLS = isLong() ? 30 : 8;
const ERRORS = isLong() ? ["ENOBUFS", "ENOMEM"] : ["ENOBUFS"];
/**
 * iptables-legacy hands its rules over as a socket option, the other programs send netlink messages. This program opens a
 * socket for each netlink message.
 */
const REFUSED = { "iptables-nft": "sendmsg,sendto", nft: "sendmsg,sendto", "iptables-legacy": "setsockopt,getsockopt" };
const CASES = [
  ...BACK_ENDS.filter(({ name }) => name !== "iptables-legacy").map((backEnd) => ({ ...backEnd, calls: "socket" })),
  ...PROGRAM_BACK_ENDS.map((backEnd) => ({ ...backEnd, calls: REFUSED[backEnd.name] })),
];

for (const { name, flags, missing, calls } of CASES) {
  testWhen(
    missing ?? needsProgram("strace"),
    `iptables apply when the kernel refuses memory: ${name}, ${calls}`,
    async () => {
      await using pair = await Pair.create([4]);
      const apply = [MESH_COMMAND, ...ARGS, ...flags];
      const clean = async () => assert.equal((await pair.pod.mesh(["iptables", "clean"])).code, 0);
      assert.equal((await pair.pod.mesh([...ARGS, ...flags])).code, 0);
      const expected = await stateOf(pair.pod);
      await clean();
      const before = await stateOf(pair.pod);
      let [applied, refused] = [0, 0];
      for (const error of ERRORS) {
        for (let call = 1; call <= CALLS; call++) {
          const inject = ["-e", `trace=${calls}`, "-e", `inject=${calls}:error=${error}:when=${call}`];
          const ran = await pair.pod.run("strace", ["-f", "-qq", "-o", "/dev/null", ...inject, ...apply]);
          const isApplied = ran.code === 0;
          if (isApplied) applied++;
          else refused++;
          await assertWhole(pair, ran, { expected: isApplied ? expected : before, story: `${error} at call ${call}` });
          await clean();
        }
      }
      assert.equal((await pair.pod.mesh([...ARGS, ...flags])).code, 0);
      assert.deepEqual(await stateOf(pair.pod), expected);
      assert.ok(refused > 0, "no call was refused");
      printFigure(
        `memory refused, ${name}, ${calls}: ${refused} runs failed and left what was there, ${applied} succeeded`,
      );
    },
  );
}

/** All or nothing, and an error that a user understands. If the kernel refuses the rollback too, the error says so. */
async function assertWhole(
  { pod }: Pair,
  { code, stderr }: Ran,
  { expected, story }: { expected: State; story: string },
) {
  const said = `${story}: ${stderr}`;
  if (code !== 0) {
    assert.match(stderr, /^error: .*(memory|no buffer|failed)/im, said);
    assert.doesNotMatch(stderr, /Unexpected failure/, said);
  }
  if (!stderr.includes("rollback is incomplete")) assert.deepEqual(await stateOf(pod), expected, said);
}
