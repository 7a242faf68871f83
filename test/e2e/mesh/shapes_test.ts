/** Pods of every shape in a real istiod's mesh: native sidecars, IPv6, both families, TPROXY, nftables. */
import assert from "node:assert/strict";
import { isLong } from "../../support/long.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { type Agent, AGENTS } from "./support/agents.ts";
import { underLoad } from "./support/figures.ts";
import { missing, type PodPair, RealMesh } from "./support/mesh.ts";
import type { Shape } from "./support/objects.ts";

/** Requests of each shape. */
const REQUESTS = isLong() ? 10_000 : 100;

/** A shape, and what shows that the pods have it. */
interface Case extends Shape {
  /** Helm values of the webhook. */
  readonly values?: string;
  /** The node captures the pods, which have no container with NET_ADMIN. */
  readonly cni?: true;
  readonly shows: (pair: PodPair) => Promise<string>;
}

const CASES: readonly Case[] = [
  { name: "redirect", shows: ({ b }) => rules(b, "iptables-save", /REDIRECT --to-ports 15006/) },
  {
    name: "native",
    annotations: { "sidecar.istio.io/nativeSidecar": "true" },
    shows: ({ b: { options: { pod } } }) => {
      const sidecars = pod.spec?.initContainers?.filter(({ restartPolicy }) => restartPolicy === "Always") ?? [];
      assert.deepEqual(sidecars.map(({ name }) => name), ["istio-proxy"]);
      return Promise.resolve("the proxy is an init container");
    },
  },
  { name: "six", families: [6], shows: ({ b }) => rules(b, "ip6tables-save", /REDIRECT --to-ports 15006/) },
  {
    name: "both",
    families: [4, 6],
    async shows({ b, urls }) {
      assert.equal(urls.filter((url) => url.includes("[")).length, 1);
      return `${await rules(b, "iptables-save", /15006/)}; ${await rules(b, "ip6tables-save", /15006/)}`;
    },
  },
  {
    name: "tproxy",
    annotations: { "sidecar.istio.io/interceptionMode": "TPROXY" },
    shows: ({ b }) => rules(b, "iptables-save", /TPROXY --on-port 15006/),
  },
  {
    name: "nft",
    values: "global: {nativeNftables: true}",
    async shows({ b }) {
      await rules(b, "nft", /redirect to :15006/, "list", "ruleset");
      const { stdout } = await b.options.network.namespace.run("iptables-save", []);
      assert.doesNotMatch(stdout, /15006/);
      return "nft: redirect to :15006, and no rule of iptables";
    },
  },
  {
    name: "cni",
    values: "pilot: {cni: {enabled: true}}",
    cni: true,
    async shows({ b }) {
      const { initContainers = [], containers = [] } = b.options.pod.spec ?? {};
      assert.deepEqual(initContainers.map(({ name }) => name), ["istio-validation"]);
      const added = [...initContainers, ...containers].flatMap(({ securityContext }) =>
        securityContext?.capabilities?.add ?? []
      );
      assert.deepEqual(added, []);
      return await rules(b, "iptables-save", /REDIRECT --to-ports 15006/);
    },
  },
];

/** Asserts that the rules of the pod's namespace match. Returns the match. */
async function rules({ options }: PodPair["b"], program: string, pattern: RegExp, ...args: string[]): Promise<string> {
  const { stdout, stderr } = await options.network.namespace.run(program, args);
  const [seen] = pattern.exec(stdout) ?? assert.fail(`${program} shows no ${pattern}: ${stdout}${stderr}`);
  return `${program}: ${seen}`;
}

for (const agent of AGENTS) {
  testWhen(
    needsCluster() ?? missing ?? needsProgram("nft"),
    `shapes: pods of ${agent.name} of every shape`,
    async (t) => {
      const dualStack = { ISTIO_DUAL_STACK: "true" };
      await using mesh = await RealMesh.create({ agent, istiodEnv: dualStack, proxyMetadata: dualStack });
      for (const each of CASES) await t.step(each.name, (t) => lives(t, mesh, agent, each));
    },
  );
}

/** The pods become ready, and each request arrives over mutual TLS. */
async function lives(t: Deno.TestContext, mesh: RealMesh, agent: Agent, { values = "", cni, shows, ...shape }: Case) {
  if (cni === true) await mesh.useCniPlugin();
  await mesh.useValues(values);
  await using pair = await mesh.readyPair(shape);
  await underLoad(t, pair, { agent, name: `shape ${shape.name}` }, async (load) => {
    await load.answered(REQUESTS);
    return await shows(pair);
  });
}
