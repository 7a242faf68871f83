/** Readiness names the problem and its stage when a pod gets no certificate. After the fix the pod becomes ready. */
import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { Mesh } from "./support/mesh.ts";
import { missing } from "./support/pod.ts";
import { spiffe } from "./support/resources.ts";

/** A problem, the message of readiness, and the fix; each with a new agent. */
interface Problem {
  readonly name: string;
  readonly make: (mesh: Mesh) => Promise<void>;
  readonly says: RegExp;
  readonly mend?: (mesh: Mesh) => Promise<void>;
  readonly env?: Readonly<Record<string, string>>;
}

const NOTHING = async () => {};

const PROBLEMS: readonly Problem[] = [
  {
    name: "the name is not known",
    make: NOTHING,
    env: { CA_ADDR: "absent.invalid:15012" },
    says: /name: .*absent\.invalid/,
  },
  {
    name: "nobody listens",
    make: ({ plane }) => plane.shut(),
    says: /connection: .*istiod\.istio-system\.svc:15012/,
    mend: ({ plane }) => plane.reopen(),
  },
  {
    name: "the certificate of the control plane has other names",
    make: ({ plane }) => plane.present(["other.istio-system.svc"]),
    says: /TLS: .*not for "istiod\.istio-system\.svc", but for "other\.istio-system\.svc"/,
    mend: ({ plane }) => plane.present(),
  },
  {
    name: "the certificate of the control plane is of a root that is not trusted",
    make: ({ plane }) => plane.present([], true),
    says: /TLS: .*not signed by a trusted authority/,
    mend: ({ plane }) => plane.present(),
  },
  {
    name: "there is no token",
    make: ({ a }) => a.writeToken(""),
    says: /token: .*has no token/,
    mend: ({ a }) => a.writeToken("token-of-a"),
  },
  {
    name: "tokens are refused",
    make: ({ plane }) => plane.behave({ refuseTokens: true }),
    says: /token: .*request authenticate failure/,
    mend: ({ plane }) => plane.behave({}),
  },
  {
    name: "an unknown token is replaced by a known one",
    make: ({ a }) => a.writeToken("old-token"),
    says: /token: .*request authenticate failure/,
    mend: async ({ a, plane }) => {
      await plane.accept({ "next-token": spiffe("a") });
      await a.writeToken("next-token");
    },
  },
  {
    name: "port 15010 has no CA",
    make: NOTHING,
    env: { CA_ADDR: "istiod.istio-system.svc:15010" },
    says: /CA: .*not on 15010/,
  },
];

/** gRPC statuses of a CA. 12 and 16 have their own texts, above. */
const CODES = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 14, 15];

testWhen(missing, "mesh: readiness names why a pod has no certificate, and recovers", async (t) => {
  await using mesh = await Mesh.create();
  const { a, plane } = mesh;
  for (const { name, make, says, mend, env = {} } of PROBLEMS) {
    await t.step(name, async () => {
      await make(mesh);
      const agent = a.start(["agent"], { env });
      await a.readinessSays(says, agent);
      assert.equal((await a.readiness()).status, 503);
      await mend?.(mesh);
      if (mend !== undefined) await a.isReady(agent);
      agent.signal("SIGQUIT");
      await agent.end;
      assert.doesNotMatch(agent.text, /PRIVATE KEY|(old|next)-token|token-of-a/);
    });
  }
  await t.step("each status of the CA", async () => {
    for (const code of CODES) {
      await plane.behave({ ca: { codes: Array(50).fill(code) } });
      const agent = a.start();
      await a.readinessSays(/CA: .*the test asks for/, agent);
      agent.signal("SIGQUIT");
      await agent.end;
    }
  });
  await t.step("an agent becomes ready after its CA failed once with each status", async () => {
    await plane.behave({ ca: { codes: [14, 7, 13] } });
    const agent = await a.startReady();
    await plane.hasFailed("ca");
    agent.signal("SIGQUIT");
    await agent.end;
  });
  await t.step("a slow CA", async () => {
    await plane.behave({ ca: { delayMillis: 1500 } });
    const before = (await plane.seen()).ca.length;
    const agent = await a.startReady();
    await until(async () => (await plane.seen()).ca.length === before + 1);
    agent.signal("SIGQUIT");
    await agent.end;
  });
});
