import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { BACK_ENDS } from "./support/back_ends.ts";
import { type Answer, type Namespace, OUTSIDE, Pair, POD, type Request } from "./support/pod.ts";

const MISSING = BACK_ENDS.map(({ missing }) => missing).find((reason) => reason !== undefined);

const COMMON = ["istio-iptables", "-u", "1337", "-i", "*", "-b", "*", "--dual-stack"];
const MODES = [[...COMMON, "-m", "TPROXY"], [...COMMON, "-m", "REDIRECT", "-c", "eth7"]] as const;

/** Both modes with every back end, twice. */
const ROUND = [...BACK_ENDS, ...BACK_ENDS].flatMap(({ flags }, at) => {
  const [first, second] = at % 2 === 0 ? MODES : MODES.toReversed();
  return [[...first ?? [], ...flags], [...second ?? [], ...flags]];
});

const INBOUND: Request[] = [{ host: POD[4], port: 8080 }, { host: POD[6], port: 8080 }];
const OUTBOUND: Request[] = [{ uid: 1000, host: OUTSIDE[4], port: 80 }, { uid: 1000, host: OUTSIDE[6], port: 80 }];

/** The pause between two batches, which leaves processor time to the changes. */
const PAUSE_MILLISECONDS = 100;

/** Connects repeatedly until it is stopped. Returns every answer. */
async function ask(from: Namespace, requests: Request[], isOver: () => boolean): Promise<(Answer | undefined)[]> {
  const answers: (Answer | undefined)[] = [];
  while (!isOver()) {
    answers.push(...await from.ask([...requests, ...requests, ...requests]));
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MILLISECONDS));
  }
  return answers;
}

testWhen(MISSING, "no connection escapes while settings and back ends change", async () => {
  await using pair = await Pair.create();
  const { pod, outside } = pair;
  await pod.serve({ tcp: [8080] });
  await pod.serve({ uid: 1337, tcp: [15001], transparent: [15006] });
  await outside.serve({ tcp: [80] });
  assert.equal((await pod.mesh(ROUND[0] ?? [])).code, 0);
  let isOver = false;
  const inbound = ask(outside, INBOUND, () => isOver);
  const outbound = ask(pod, OUTBOUND, () => isOver);
  try {
    for (const args of ROUND) {
      const { code, stderr } = await pod.mesh(args);
      assert.equal(code, 0, stderr);
    }
  } finally {
    isOver = true;
  }
  const arrived = (answers: (Answer | undefined)[]) => [...new Set(answers.flatMap((answer) => answer?.port ?? []))];
  // More than one batch each: the number depends on the speed of the changes.
  assert.ok((await inbound).length > 3 * INBOUND.length && (await outbound).length > 3 * OUTBOUND.length);
  assert.deepEqual([arrived(await inbound), arrived(await outbound)], [[15006], [15001]]);
});
