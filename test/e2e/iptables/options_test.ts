import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { BACK_ENDS } from "./support/back_ends.ts";
import { OUTSIDE, Pair, POD, type Request, SECOND, startSaying } from "./support/pod.ts";

startSaying();

/** Source and destination of a connection, and the port that it arrives at. */
interface Flow extends Request {
  readonly name: string;
  readonly from?: "outside";
  readonly arrives: number;
}

/** Settings and the expected connections. */
interface Case {
  readonly name: string;
  readonly flags: readonly string[];
  readonly env?: Record<string, string>;
  readonly flows: readonly Flow[];
}

function inbound(name: string, host: string, port: number, arrives: number): Flow {
  return { name, from: "outside", host, port, arrives };
}

function outbound(name: string, host: string, port: number, arrives: number): Flow {
  return { name, host, port, arrives, uid: 1000 };
}

const BOTH = [4, 6] as const;

const CASES: readonly Case[] = [
  {
    name: "ports, ranges, interfaces, users, groups that are excluded",
    flags: [
      ...["-i", "*", "-b", "8000:8100", "-o", "3306,9000:9010", "-c", "eth1", "--exclude-uid", "500"],
      ...["--exclude-outbound-ports-for-uids", "tcp:81:600"],
    ],
    env: { ISTIO_OUTBOUND_OWNER_GROUPS_EXCLUDE: "700" },
    flows: BOTH.flatMap((family) => [
      inbound("a port in the range", POD[family], 8050, 15006),
      inbound("a port behind the range", POD[family], 8200, 8200),
      inbound("an excluded interface", SECOND.pod[family], 8050, 8050),
      outbound("a port", OUTSIDE[family], 80, 15001),
      outbound("a port in the excluded range", OUTSIDE[family], 9005, 9005),
      outbound("an excluded interface", SECOND.outside[family], 80, 80),
      { ...outbound("an excluded user", OUTSIDE[family], 80, 80), uid: 500 },
      { ...outbound("an excluded group", OUTSIDE[family], 80, 80), gid: 700 },
      { ...outbound("a port excluded for a user", OUTSIDE[family], 81, 81), uid: 600 },
      outbound("the port of another user", OUTSIDE[family], 81, 15001),
      { ...outbound("another port of the user", OUTSIDE[family], 80, 15001), uid: 600 },
    ]),
  },
  {
    name: "all inbound ports but excluded ones, destinations by address and by port",
    flags: ["-i", "10.199.0.0/24", "-x", `${SECOND.outside[4]}/32`, "-b", "*", "-d", "8200,9000:9010", "-q", "81"],
    flows: [
      inbound("a port", POD[4], 8050, 15006),
      inbound("an excluded port", POD[4], 8200, 8200),
      inbound("a port in the excluded range", POD[4], 9005, 9005),
      outbound("an address in the list", OUTSIDE[4], 80, 15001),
      outbound("an address that is in no list", OUTSIDE[6], 80, 80),
      outbound("a port that is always captured", OUTSIDE[6], 81, 15001),
      outbound("an excluded address, whatever the port", SECOND.outside[4], 81, 81),
    ],
  },
  {
    name: "only some groups",
    flags: ["-i", "*"],
    env: { ISTIO_OUTBOUND_OWNER_GROUPS: "800,801" },
    flows: BOTH.flatMap((family) => [
      { ...outbound("a group", OUTSIDE[family], 80, 15001), gid: 801 },
      { ...outbound("another group", OUTSIDE[family], 80, 80), gid: 802 },
      inbound("inbound without ports", POD[family], 8050, 8050),
    ]),
  },
  {
    name: "a virtual machine behind an interface",
    flags: ["-i", "*", "-b", "*", "-k", "eth1"],
    flows: [
      inbound("what the machine sends through the pod, IPv4", "203.0.113.5", 80, 15001),
      inbound("what the machine sends through the pod, IPv6", "2001:db8::5", 80, 15001),
      inbound("what comes from elsewhere", POD[4], 8050, 15006),
    ],
  },
];

const COMMON = ["istio-iptables", "-u", "1337", "--dual-stack"];

async function check({ pod, outside }: Pair, flows: readonly Flow[]): Promise<void> {
  const answers = new Map<Flow, number | undefined>();
  for (const [namespace, from] of [[pod, undefined], [outside, "outside"]] as const) {
    const asked = flows.filter((flow) => flow.from === from);
    const said = await namespace.ask(asked);
    asked.forEach((flow, at) => answers.set(flow, said[at]?.port));
  }
  const line = (flow: Flow, port: number | undefined) => `${flow.name}, ${flow.host}:${flow.port}: ${port}`;
  assert.deepEqual(flows.map((flow) => line(flow, answers.get(flow))), flows.map((flow) => line(flow, flow.arrives)));
}

for (const { name, flags, missing } of BACK_ENDS) {
  testWhen(missing, `what is captured and what is not: ${name}`, async (t) => {
    await using pair = await Pair.create();
    await pair.addSecondLink();
    await pair.pod.serve({ tcp: [8050, 8200, 9005] });
    await pair.pod.serve({ uid: 1337, tcp: [15001, 15006] });
    await pair.outside.serve({ tcp: [80, 81, 9005] });
    for (const { name: what, flags: more, env, flows } of CASES) {
      await t.step(what, async () => {
        const { code, stderr } = await pair.pod.say([...COMMON, ...more, ...flags], env === undefined ? {} : { env });
        assert.equal(code, 0, stderr);
        await check(pair, flows);
      });
    }
  });
}
