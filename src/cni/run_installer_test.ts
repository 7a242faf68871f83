import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import type { InstallOptions } from "./install/options.ts";
import { runInstaller } from "./run_installer.ts";

const OPTIONS: InstallOptions = {
  ...{
    binary: "/program",
    binFolder: "/host/bin",
    netFolder: "/host/net",
    hostBinFolder: "/bin",
    hostProc: "/host/proc",
  },
  ...{ runFolder: "/run/cni", accountFolder: "/account", confName: undefined, isChained: false, excludeNamespaces: [] },
  ...{
    nativeNftables: false,
    pluginLogLevel: "info",
    namespace: "mesh",
    daemonSet: "node",
    node: "n",
    taint: undefined,
  },
  ...{ stays: true, repair: undefined, repairLabel: "a=b", log: { format: undefined, level: undefined } },
  health: { hostnames: ["127.0.0.1"], port: 8000 },
  metrics: { hostnames: ["127.0.0.1"], port: 15014 },
};

const AUTHORITY = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";

Deno.test("a taint that cannot be removed is tried again", async () => {
  const answers = [500, 200];
  const spec = { taints: [{ key: "key", effect: "NoSchedule" }] };
  const world = fakeWorld({
    env: { KUBERNETES_SERVICE_HOST: "10.0.0.1", KUBERNETES_SERVICE_PORT: "443" },
    files: { "/program": "program", "/account/token": "t", "/account/ca.crt": AUTHORITY },
    request: (_url, init) => {
      const node = { apiVersion: "v1", kind: "Node", metadata: { name: "n" }, spec };
      if (init?.method !== "PATCH") return Response.json(node);
      const status = answers.shift() ?? 200;
      if (answers.length === 0) world.raise("SIGTERM");
      return Response.json(status === 200 ? node : { message: "busy" }, { status });
    },
  });
  const clock = { ...world.clock, sleep: () => new Promise<void>((wake) => setTimeout(wake)) };
  assert.equal(await runInstaller({ ...world, clock }, { ...OPTIONS, taint: "key" }), 0);
  assert.deepEqual(answers, []);
  assert.match(world.said.stderr, /Cannot remove the taint of the node: .*\n/);
});

Deno.test("without a taint the log has none, and the API server is not asked", async () => {
  const world = fakeWorld({ files: { "/program": "program" } });
  const running = runInstaller(world, OPTIONS);
  world.raise("SIGTERM");
  assert.equal(await running, 0);
  assert.doesNotMatch(world.said.stderr, /taint/);
});
