import assert from "node:assert/strict";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { needsNamespaces, Pair } from "../iptables/support/pod.ts";
import { type Answer, startApi } from "./support/api.ts";
import { Installer } from "./support/installer.ts";
import { CniNode } from "./support/node.ts";

const MISSING = Deno.uid() === 0 ? undefined : "it needs root, to change the root of a program";
const DAEMON_SET = { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "mesh-cni-node" } };

function modeOf(path: string): number {
  return (Deno.statSync(path).mode ?? 0) & 0o777;
}

function typesOf(text: string): string[] {
  return JSON.parse(text).plugins.map(({ type }: { type: string }) => type);
}

testWhen(
  MISSING,
  "the installer adds the plugin, restores it, renews the token and takes it all out again",
  async () => {
    await using node = await CniNode.create();
    await using api = startApi(() => undefined);
    await node.configure("1.0.0");
    await using installer = await Installer.start(node, api);
    await installer.becomes(200);
    assert.deepEqual(typesOf(await node.configuration()), ["network", "mesh-cni"]);
    const [, own] = JSON.parse(await node.configuration()).plugins;
    assert.deepEqual([own.pod_namespace, own.pod_prefix, own.exclude_namespaces], ["mesh", "mesh-cni-node-", [
      "kube-system",
    ]]);
    assert.equal(modeOf(`${node.folder}/bin/mesh-cni`), 0o755);
    for (const name of ["mesh-cni-kubeconfig", "mesh-cni-token"]) {
      assert.equal(modeOf(`${node.folder}/run/${name}`), 0o600, name);
    }

    // Another installer writes its own list, then a plugin of an earlier name; a person removes the program.
    await node.configure("1.0.0");
    await until(() => node.hasPlugin());
    await Deno.writeTextFile(
      `${node.folder}/net.d/05-other.conf`,
      '{"cniVersion":"0.4.0","name":"other","type":"bridge"}',
    );
    await until(() => node.hasPlugin("05-other.conflist"));
    assert.deepEqual(typesOf(await node.configuration("05-other.conflist")), ["bridge", "mesh-cni"]);
    await assert.rejects(Deno.stat(`${node.folder}/net.d/05-other.conf`));
    await Deno.remove(`${node.folder}/bin/mesh-cni`);
    await until(() => Deno.stat(`${node.folder}/bin/mesh-cni`).then(() => true, () => false));
    await Deno.writeTextFile(`${node.folder}/account/token`, "second-token");
    await until(async () => await Deno.readTextFile(`${node.folder}/run/mesh-cni-token`) === "second-token");
    await installer.becomes(200);
    assert.match(
      await installer.metrics(),
      /istio_cni_install_ready 1\n[^]*istio_cni_installs_total\{result="SUCCESS"\}/,
    );

    const { code, log } = await installer.end();
    assert.equal(code, 0, log);
    assert.deepEqual(typesOf(await node.configuration()), ["network"]);
    assert.deepEqual(typesOf(await node.configuration("05-other.conflist")), ["bridge"]);
    assert.deepEqual(await Array.fromAsync(Deno.readDir(`${node.folder}/run`)), []);
    assert.ok(!log.includes('-token"'), "the token is in no line");
    // CRI-O remembers the plugins of a pod: it must still be deleted.
    const env = { CNI_COMMAND: "DEL" };
    assert.ok((await new Deno.Command(`${node.folder}/bin/mesh-cni`, { env }).output()).success);
  },
);

const ENDS: readonly (readonly [what: string, answer: Answer, args: readonly string[], stays: boolean])[] = [
  ["the DaemonSet is there: an upgrade", () => DAEMON_SET, [], true],
  ["the API server is away", () => 503, [], true],
  ["--stay", () => undefined, ["--stay"], true],
  [
    "the DaemonSet is being deleted",
    () => ({ ...DAEMON_SET, metadata: { ...DAEMON_SET.metadata, deletionTimestamp: "2026-01-01T00:00:00Z" } }),
    [],
    false,
  ],
  ["its rights are gone with the installation", () => 403, [], false],
];

for (const [what, answer, args, stays] of ENDS) {
  testWhen(MISSING, `at the end the plugin ${stays ? "stays" : "is taken out"}: ${what}`, async () => {
    await using node = await CniNode.create();
    await using api = startApi(answer);
    await node.configure("1.0.0");
    await using installer = await Installer.start(node, api, args);
    await installer.becomes(200);
    const { code, log } = await installer.end();
    assert.equal(code, 0);
    assert.equal(typesOf(await node.configuration()).includes("mesh-cni"), stays, log);
    assert.equal((await Deno.readTextFile(`${node.folder}/bin/mesh-cni`)).includes("has been removed"), !stays);
  });
}

testWhen(
  MISSING,
  "without a network configuration the installer is not ready and says so, until there is one",
  async () => {
    await using node = await CniNode.create();
    await using api = startApi(() => undefined);
    await using installer = await Installer.start(node, api, ["--cni-conf-name", "10-net.conflist"]);
    assert.match(await installer.becomes(503), /not installed yet|no network configuration "10-net\.conflist" yet/);
    await node.configure("1.0.0", undefined, "20-other.conflist");
    await node.configure("1.0.0");
    await installer.becomes(200);
    assert.deepEqual(typesOf(await node.configuration()), ["network", "mesh-cni"]);
    assert.deepEqual(typesOf(await node.configuration("20-other.conflist")), ["network"]);
  },
);

testWhen(
  MISSING,
  "a program that the node cannot run is not installed, and the reason is in the readiness",
  async () => {
    await using node = await CniNode.create();
    await using api = startApi(() => undefined);
    await node.configure("1.0.0");
    // A node without a shell and without glibc.
    const root = `${node.folder}/root`;
    await Deno.mkdir(`${root}/opt/cni/bin`, { recursive: true });
    await Deno.mkdir(`${node.folder}/proc/1`, { recursive: true });
    await Deno.symlink(root, `${node.folder}/proc/1/root`);
    const folders = ["--mounted-cni-bin-dir", `${root}/opt/cni/bin`, "--cni-bin-dir", "/opt/cni/bin"];
    await using installer = await Installer.start(node, api, folders);
    await until(async () => /does not run on this node/.test(await installer.becomes(503)));
    assert.match(
      await installer.becomes(503),
      /Cannot start "\/opt\/cni\/bin\/\.mesh-cni\.new": the node lacks the dynamic loader for this program; the program needs glibc/,
    );
    assert.deepEqual(await Array.fromAsync(Deno.readDir(`${root}/opt/cni/bin`)), []);
    assert.deepEqual(typesOf(await node.configuration()), ["network"]);
    assert.match(await installer.metrics(), /istio_cni_installs_total\{result="COPY_BINARIES_FAILURE"\}/);
  },
);

testWhen(
  MISSING,
  "with Multus the plugin has a configuration of its own, and the node a taint until it is there",
  async () => {
    await using node = await CniNode.create();
    const taints = [{ key: "other", effect: "NoExecute" }];
    const spec: { taints: readonly object[] } = { taints };
    const seen: string[] = [];
    await using api = startApi((path, method, body) => {
      if (path !== "/api/v1/nodes/node-1") return undefined;
      if (method === "PATCH") {
        spec.taints = JSON.parse(body).spec.taints;
        seen.push(JSON.stringify(spec.taints));
      }
      return { apiVersion: "v1", kind: "Node", metadata: { name: "node-1", resourceVersion: "7" }, spec };
    });
    await using installer = await Installer.start(node, api, [
      ...["--chained-cni-plugin=false", "--node-taint", "cni.istio.io/not-ready"],
    ]);
    await installer.becomes(200);
    const { name, type, cniVersion } = JSON.parse(await node.configuration("YYY-mesh-cni.conf"));
    assert.deepEqual([name, type, cniVersion], ["istio-cni", "mesh-cni", "0.3.1"]);
    await until(() => seen.at(-1) === JSON.stringify(taints));
    await installer.end();
    await assert.rejects(node.configuration("YYY-mesh-cni.conf"));
  },
);

const SIDECAR = {
  ...{ apiVersion: "v1", kind: "Pod" },
  metadata: { name: "web-0", namespace: "shop", annotations: { "sidecar.istio.io/status": "{}" } },
  spec: { containers: [{ name: "istio-proxy" }] },
};

testWhen(
  MISSING ?? needsNamespaces("nft"),
  "in an upgrade a pod waits for the next installer, and is captured; an uninstall leaves running pods as they are",
  async () => {
    await using node = await CniNode.create();
    await using before = await Pair.create([4]);
    await using between = await Pair.create([4]);
    // The token of a pod is worth nothing once the pod is deleted.
    let [valid, isInstalled] = ["first-token", true];
    await using server = startApi((path, _method, _body, token) => {
      if (token !== valid) return 401;
      return path.includes("/daemonsets/") ? isInstalled ? DAEMON_SET : 404 : SIDECAR;
    });
    const api = { port: server.port, authority: server.authority };
    await node.configure("1.0.0");
    await using first = await Installer.start(node, api);
    await first.becomes(200);
    assert.equal((await node.cnitool("add", before.pod.path)).code, 0);
    assert.match((await first.end()).log, /stays on the node/);

    valid = "second-token";
    const added = node.cnitool("add", between.pod.path);
    await using second = await Installer.start(node, { ...api, token: valid });
    await second.becomes(200);
    const { code, stderr } = await added;
    assert.equal(code, 0, stderr);

    isInstalled = false;
    assert.match((await second.end()).log, /has been removed/);
    for (const { pod } of [before, between]) assert.match(await pod.shell("nft list ruleset"), /15006/);
    assert.equal((await node.cnitool("del", before.pod.path)).code, 0);
    const env = { CNI_COMMAND: "DEL" };
    assert.ok((await new Deno.Command(`${node.folder}/bin/mesh-cni`, { env }).output()).success);
  },
);
