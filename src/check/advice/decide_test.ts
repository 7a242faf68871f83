import assert from "node:assert/strict";
import type { Advice, Need, Reach, Risk } from "./advice.ts";
import { decided, decidedFixes, type Deciding } from "./decide.ts";
import type { Observed } from "../inventory/mod.ts";
import { fixLines } from "./text.ts";

const NEED: Need = { verb: "patch", group: "admissionregistration.k8s.io", resource: "mutatingwebhookconfigurations" };

function advice(change: string, reach: Reach, risk: Risk = "none", rest: Partial<Advice> = {}): Advice {
  return { change, reach, risk, steps: [{ command: `do ${change}`, needs: [] }], ...rest };
}

const OWNER: Deciding = {
  istioNamespace: "istio-system",
  injectors: () => Promise.resolve({ value: [] }),
  may: () => Promise.resolve({ value: true }),
};

const order = async (all: readonly Advice[]) => (await decided(all, OWNER)).map(({ change }) => change);

interface Row {
  readonly rule: string;
  readonly given: readonly Advice[];
  readonly shown: readonly string[];
}

const LOOK = "see first which pods are in the mesh";

const ROWS: readonly Row[] = [
  { rule: "nothing stays nothing", given: [], shown: [] },
  {
    rule: "the smallest change comes first",
    given: [advice("c", "cluster"), advice("m", "mesh"), advice("w", "workload"), advice("n", "namespace")],
    shown: ["w", "n", "m", "c"],
  },
  {
    rule: "equal ones stay in their order",
    given: [advice("b", "workload"), advice("a", "workload")],
    shown: ["b", "a"],
  },
  {
    rule: "what is not harmless comes behind all that is, however small it is",
    given: [advice("out", "workload", "takes-out"), advice("in", "namespace", "enrols"), advice("c", "cluster")],
    shown: ["c", "in", "out"],
  },
  {
    rule: "a policy that admits more is less than pods that come or go",
    given: [advice("in", "workload", "enrols"), advice("more", "namespace", "loosens"), advice("look", "nothing")],
    shown: ["look", "more", "in"],
  },
  {
    rule: "a change comes before a look",
    given: [advice("look", "nothing"), advice("m", "mesh")],
    shown: ["m", "look"],
  },
  {
    rule: "a guess comes behind the look that shows whether it helps",
    given: [advice("guess", "workload", "none", { isGuess: true }), advice("look", "nothing"), advice("m", "mesh")],
    shown: ["m", "look", "guess"],
  },
  {
    rule: "what enrols a namespace is never the first",
    given: [advice("in", "namespace", "enrols", { namespace: "shop" })],
    shown: [LOOK, "in"],
  },
  {
    rule: "what takes workloads out is never the first",
    given: [advice("out", "workload", "takes-out", { namespace: "shop" })],
    shown: [LOOK, "out"],
  },
  {
    rule: "nor is it the first command, behind what has none",
    given: [advice("out", "cluster", "takes-out"), advice("install", "mesh", "none", { steps: [] })],
    shown: ["install", LOOK, "out"],
  },
  {
    rule: "a policy that admits more may be the first command",
    given: [advice("more", "namespace", "loosens"), advice("install", "mesh", "none", { steps: [] })],
    shown: ["install", "more"],
  },
  {
    rule: "nothing is invited into a protected namespace",
    given: [
      advice("in", "namespace", "enrols", { namespace: "istio-system" }),
      advice("pod", "workload", "none", { namespace: "kube-system", invites: true }),
      advice("away", "namespace", "none", { namespace: "istio-system" }),
    ],
    shown: ["away"],
  },
  { rule: "the same advice is reported once", given: [advice("a", "mesh"), advice("a", "mesh")], shown: ["a"] },
];

for (const { rule, given, shown } of ROWS) {
  Deno.test(`advice: ${rule}`, async () => assert.deepEqual(await order(given), shown));
}

Deno.test("forbidden steps name the missing right, and unknown rights are not reported as missing", async () => {
  const steps = [{ command: "kubectl patch x", needs: [NEED] }];
  const given = [advice("set it", "webhook", "none", { steps }), advice("log", "nothing")];
  const unknown = { failed: "no answer" };
  const shown = (answer: Observed<boolean>) => decided(given, { ...OWNER, may: () => Promise.resolve(answer) });
  assert.deepEqual((await shown({ value: false })).map(({ forbidden }) => forbidden), [
    ["patch mutatingwebhookconfigurations"],
    [],
  ]);
  for (const answer of [{ value: true }, unknown]) assert.deepEqual((await shown(answer))[0]?.forbidden, []);
  assert.deepEqual((await shown(unknown))[0]?.needs, ["patch mutatingwebhookconfigurations"]);
});

Deno.test('alternatives are joined by "or", and forbidden commands are still printed', async () => {
  const steps = [{ command: "kubectl patch x", needs: [NEED] }];
  const alternatives = [
    advice("set it", "webhook", "none", { steps }),
    advice("install", "mesh", "none", { steps: [] }),
  ];
  const shown = await decidedFixes([{ objects: ["a"], alternatives }, { objects: ["b"], alternatives: [] }], {
    ...OWNER,
    may: () => Promise.resolve({ value: false }),
  });
  assert.deepEqual(fixLines(shown).map(({ text }) => text), [
    "fix: set it:",
    "kubectl patch x",
    "you may not patch mutatingwebhookconfigurations: ask an administrator",
    "or: install",
  ]);
});

Deno.test("several fixes name their objects", async () => {
  const shown = await decidedFixes([
    { objects: ["namespace/a", "namespace/c"], alternatives: [advice("x", "mesh")] },
    { objects: ["namespace/b"], alternatives: [advice("y", "mesh")] },
  ], OWNER);
  assert.deepEqual(fixLines(shown).filter(({ isCommand }) => !isCommand).map(({ text }) => text), [
    "fix of namespace/a and 1 more: x:",
    "fix of namespace/b: y:",
  ]);
});
