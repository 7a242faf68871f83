/** `agent --redirect-traffic` in a pod. */
import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { until } from "../../support/until.ts";
import { needsNamespaces, Pair } from "./support/pod.ts";
import { stateOf } from "./support/state.ts";

const MISSING = needsNamespaces("iptables-nft-save", "nft") ?? needsProgram("setpriv");

const ENV = {
  INSTANCE_IP: "127.0.0.1",
  POD_NAME: "pod",
  POD_NAMESPACE: "default",
  CLOUD_PLATFORM: "none",
  DISABLE_ENVOY: "true",
};

testWhen(MISSING, "agent --redirect-traffic: the agent makes the rules of iptables apply, and then runs", async () => {
  await using applied = await Pair.create();
  const ports = ["-d", "15090,15021,15020"];
  const { code, stderr } = await applied.pod.mesh(["iptables", "apply", "-b", "*", "-i", "*", ...ports]);
  assert.equal(code, 0, stderr);
  const { nft4 } = await stateOf(applied.pod);
  await using pair = await Pair.create();
  await using folder = await temporaryFolder();
  const args = [`--net=${pair.pod.path}`, "setpriv", "--regid", "1337", "--clear-groups", MESH_COMMAND];
  await using agent = new Deno.Command("nsenter", {
    args: [...args, "agent", "--redirect-traffic"],
    env: ENV,
    // The agent writes files into its working directory.
    cwd: folder.path,
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const said = new Response(agent.stderr).text();
  await until(async () => (await stateOf(pair.pod)).nft4 === nft4, "the rules of iptables apply");
  agent.kill("SIGTERM");
  assert.match(await said, /iptables: The rules are in place/);
});

testWhen(
  MISSING,
  "agent --redirect-traffic: without the capability, or as user and group 0, the agent ends with an error",
  async () => {
    await using pair = await Pair.create();
    const start = (...how: string[]) =>
      pair.pod.run("setpriv", [...how, MESH_COMMAND, "agent", "--redirect-traffic"], { env: ENV });
    const without = await start(
      "--regid",
      "1337",
      "--clear-groups",
      "--bounding-set",
      "-net_admin",
      "--inh-caps",
      "-net_admin",
    );
    assert.equal(without.code, 1, without.stderr);
    assert.match(without.stderr, /^error: This process cannot read or change the rules.*NET_ADMIN/m);
    const root = await start("--clear-groups");
    assert.equal(root.code, 1, root.stderr);
    assert.match(root.stderr, /^error: Envoy would run as user 0 and group 0.*runAsGroup/m);
    assert.doesNotMatch((await stateOf(pair.pod)).nft4, /ISTIO_/);
  },
);
