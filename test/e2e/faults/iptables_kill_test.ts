/**
 * SIGKILL at random moments of `iptables apply`: the rules are the old ones or the new ones, never a mixture. The next apply
 * makes the rules of a clean apply, none is doubled, and traffic is captured. Two runs at once leave the rules of one of them.
 */
import assert from "node:assert/strict";
import { isLong, printFigure } from "../../support/long.ts";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { BACK_ENDS } from "../iptables/support/back_ends.ts";
import { type Namespace, Pair, startSaying } from "../iptables/support/pod.ts";
import { type State, stateOf } from "../iptables/support/state.ts";
import { randomOf, seedOfRun } from "./support/random.ts";

startSaying();

const ROUNDS = isLong() ? 200 : 6;
const PAIRS = isLong() ? 50 : 2;

const EARLIER = ["-u", "1337", "-i", "*", "-b", "*", "--dual-stack", "-c", "eth7"];
const LATER = "-u 1337 -m TPROXY -i * -b * --dual-stack --redirect-dns --capture-all-dns".split(" ");

function start(pod: Namespace, args: readonly string[]): Deno.ChildProcess {
  return new Deno.Command("nsenter", {
    args: [`--net=${pod.path}`, MESH_COMMAND, ...args],
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
}

/** The rules in nf_tables, as text. */
function rulesOf({ nft4, nft6, inet }: State): string {
  return [nft4, nft6, inet].join("\n");
}

/** The process may have ended by itself. */
function killIfThere(child: Deno.ChildProcess): void {
  try {
    child.kill("SIGKILL");
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
}

async function succeeds(pod: Namespace, ...args: string[]): Promise<string> {
  const { code, stderr } = await pod.say(args);
  assert.equal(code, 0, stderr);
  return stderr;
}

async function fresh(args: readonly string[]): Promise<State> {
  await using pair = await Pair.create();
  await succeeds(pair.pod, "istio-iptables", ...args);
  return await stateOf(pair.pod);
}

for (const { name, flags, missing } of BACK_ENDS) {
  testWhen(
    missing,
    `iptables apply after SIGKILL at ${ROUNDS} random moments equals a clean apply: ${name}`,
    async () => {
      const seed = seedOfRun();
      const random = randomOf(seed);
      const later = ["istio-iptables", ...LATER, ...flags];
      const expected = await fresh([...LATER, ...flags]);
      await using pair = await Pair.create();
      const before = performance.now();
      // A separate process, as slow as the one that is killed.
      assert.equal((await pair.pod.mesh(later)).code, 0);
      const longest = 1.1 * (performance.now() - before);
      // The programs of iptables-legacy change one table after the other.
      const isOneTransaction = name !== "iptables-legacy";
      let [repaired, same, untouched] = [0, 0, 0];
      for (let round = 0; round < ROUNDS; round++) {
        await succeeds(pair.pod, ...random() < 0.5 ? ["iptables", "clean"] : ["istio-iptables", ...EARLIER, ...flags]);
        const old = rulesOf(await stateOf(pair.pod));
        const child = start(pair.pod, later);
        await new Promise((resolve) => setTimeout(resolve, random() * longest));
        killIfThere(child);
        if (isOneTransaction) {
          await child.status;
          const found = rulesOf(await stateOf(pair.pod));
          assert.ok(found === old || found === rulesOf(expected), `seed ${seed}, round ${round}: ${found}`);
          if (found === old) untouched++;
        }
        // An iptables program that the killed process started may still run.
        const said = await succeeds(pair.pod, ...later);
        if (said.includes("Nothing to change")) same++;
        else repaired++;
        assert.deepEqual(await stateOf(pair.pod), expected, `seed ${seed}, round ${round}`);
        await child.output();
      }
      const { code, stderr } = await pair.pod.mesh(["iptables", "verify"]);
      assert.equal(code, 0, stderr);
      const halves = isOneTransaction ? `; ${untouched} of ${ROUNDS} left the old rules, the others the new ones` : "";
      printFigure(`${name}, seed ${seed}: ${repaired} applies had something to do, ${same} had nothing${halves}`);
    },
  );

  testWhen(missing, `${PAIRS} times two concurrent applies leave the rules of one of them: ${name}`, async () => {
    const variants = [EARLIER, LATER].map((args) => [...args, ...flags]);
    const expected = (await Promise.all(variants.map(fresh))).map((state) => JSON.stringify(state));
    await using pair = await Pair.create();
    for (let round = 0; round < PAIRS; round++) {
      const children = variants.map((args) => start(pair.pod, ["istio-iptables", ...args]));
      for (const child of children) {
        const { code, stderr } = await child.output();
        assert.equal(code, 0, new TextDecoder().decode(stderr));
      }
      const state = JSON.stringify(await stateOf(pair.pod));
      assert.ok(expected.includes(state), state);
      if (round % 2 === 0) await succeeds(pair.pod, "iptables", "clean");
    }
  });
}
