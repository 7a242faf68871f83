import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { BACK_ENDS } from "../iptables/support/back_ends.ts";
import { needsNamespaces, Pair, POD } from "../iptables/support/pod.ts";
import { needsProgram } from "../../support/test_when.ts";
import { CniNode, RESULT } from "./support/node.ts";

const MISSING = needsNamespaces() ?? needsProgram("go") ?? BACK_ENDS.find(({ name }) => name === "nft")?.missing;

/** Pods of the API by name; `undefined` answers 503, as an API server that starts. */
function apiOf(pods: () => Readonly<Record<string, object>> | undefined) {
  return Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, ({ url }) => {
    const found = pods();
    const pod = found?.[new URL(url).pathname.split("/").at(-1) ?? ""];
    if (pod !== undefined) return Response.json(pod);
    return Response.json({ kind: "Status", apiVersion: "v1", status: "Failure" }, {
      status: found === undefined ? 503 : 404,
    });
  });
}

function podOf(containers: readonly object[], annotations: Readonly<Record<string, string>> = {}) {
  const metadata = {
    name: "web-0",
    namespace: "shop",
    annotations: { "sidecar.istio.io/status": "{}", ...annotations },
  };
  return { apiVersion: "v1", kind: "Pod", metadata, spec: { containers } };
}

const SIDECAR = podOf([{ name: "app" }, { name: "istio-proxy", securityContext: { runAsUser: 1337 } }]);

for (const version of ["0.4.0", "1.1.0"]) {
  testWhen(MISSING, `cnitool adds, checks and deletes a captured pod with CNI ${version}`, async () => {
    await using node = await CniNode.create();
    await using pair = await Pair.create([4, 6]);
    let isAway = false;
    await using api = apiOf(() => isAway ? undefined : { "web-0": SIDECAR });
    await node.kubeconfig(`http://127.0.0.1:${api.addr.port}`);
    await node.configure(version, { cni_agent_run_dir: `${node.folder}/run`, native_nftables: true });

    const added = await node.cnitool("add", pair.pod.path);
    assert.equal(added.code, 0, added.stderr);
    assert.deepEqual(JSON.parse(added.stdout).ips[0].address, RESULT.ips[0]?.address);
    await pair.pod.serve({ tcp: [15001, 15006], uid: 1337 });
    await pair.outside.serve({ tcp: [80] });
    assert.deepEqual(await pair.outside.ask([{ host: POD[4], port: 80 }]).then(([a]) => a?.port), 15006);
    assert.deepEqual(await pair.pod.ask([{ uid: 1000, host: "10.199.0.1", port: 80 }]).then(([a]) => a?.port), 15001);

    const checked = await node.cnitool("check", pair.pod.path);
    assert.equal(checked.code, 0, checked.stderr);
    await pair.pod.shell("nft delete table inet istio-proxy-nat");
    const broken = await node.cnitool("check", pair.pod.path);
    assert.notEqual(broken.code, 0);
    assert.match(broken.stderr, /The traffic of the pod is not captured/);

    isAway = true;
    const deleted = await node.cnitool("del", pair.pod.path);
    assert.equal(deleted.code, 0, deleted.stderr);
  });
}

testWhen(
  MISSING,
  "a pod starts neither without the API nor without rules, and the kubelet gets a plain reason",
  async () => {
    await using node = await CniNode.create();
    await using pair = await Pair.create([4]);
    const bad = podOf([{ name: "istio-proxy" }], { "traffic.sidecar.istio.io/includeInboundPorts": "http" });
    await using api = apiOf(() => ({ "web-0": bad }));
    await node.kubeconfig(`http://127.0.0.1:${api.addr.port}`);
    await node.configure("1.0.0", { cni_agent_run_dir: `${node.folder}/run`, native_nftables: true });
    const wrong = await node.cnitool("add", pair.pod.path);
    assert.equal(wrong.code, 1);
    assert.match(
      wrong.stderr,
      /The settings of the pod are invalid: traffic\.sidecar\.istio\.io\/includeInboundPorts: "http"/,
    );
    const gone = await node.cnitool("add", "/run/netns/mesh-test-gone");
    assert.equal(gone.code, 1);
    assert.equal((await pair.pod.shell("nft list ruleset")).trim(), "");
  },
);

testWhen(
  MISSING,
  "an ambient pod, a job of the mesh's gateway and a pod of an excluded namespace stay as they are",
  async () => {
    await using node = await CniNode.create();
    await using pair = await Pair.create([4]);
    const pods = {
      ambient: {
        ...podOf([{ name: "app" }]),
        metadata: { name: "ambient", labels: { "istio.io/dataplane-mode": "ambient" } },
      },
      gateway: podOf([{ name: "istio-proxy", args: ["proxy", "router"] }]),
    };
    await using api = apiOf(() => pods);
    await node.kubeconfig(`http://127.0.0.1:${api.addr.port}`);
    const own = { cni_agent_run_dir: `${node.folder}/run`, native_nftables: true };
    for (const pod of ["ambient", "gateway", "other"]) {
      await node.configure("1.0.0", { ...own, exclude_namespaces: pod === "other" ? ["shop"] : [] });
      const added = await node.cnitool("add", pair.pod.path, { name: pod });
      assert.equal(added.code, 0, added.stderr);
    }
    assert.equal((await pair.pod.shell("nft list ruleset")).trim(), "");
  },
);
