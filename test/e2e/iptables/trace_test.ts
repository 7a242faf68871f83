import assert from "node:assert/strict";
import { MESH_COMMAND } from "../../support/programs/mesh.ts";
import { testWhen } from "../../support/test_when.ts";
import { until } from "../../support/until.ts";
import { BACK_ENDS } from "./support/back_ends.ts";
import { Pair, POD } from "./support/pod.ts";

const APPLY = ["iptables", "apply", "-b", "*", "-i", "*", "-u", "1337", "--redirect-dns", "--capture-all-dns"];
const NFT = BACK_ENDS.filter(({ name }) => name !== "iptables-legacy");

interface Flow {
  readonly args: readonly string[];
  readonly ends: RegExp;
}

const SENT: readonly Flow[] = [
  {
    args: ["--to", "10.199.0.1:80"],
    ends: /^TCP 10\.199\.0\.2:\d+ -> 10\.199\.0\.1:80, sent\n[^]*\n=> it is redirected to port 15001\n$/,
  },
  { args: ["--to", "10.199.0.1:80", "--uid", "1337"], ends: /owner 1337|skuid 1337[^]*\n=> no rule redirects it\n$/ },
  { args: ["--to", "10.199.0.1:53", "--udp"], ends: /^UDP .*\n[^]*\n=> it is redirected to port 15053\n$/ },
  {
    args: ["--to", "[fd99::1]:80"],
    ends: /^TCP \[fd99::2\]:\d+ -> \[fd99::1\]:80, sent\n[^]*\n=> it is redirected to port 15001\n$/,
  },
];

for (const { name, flags, missing } of NFT) {
  testWhen(missing, `trace shows the path that the kernel reports: ${name}`, async () => {
    await using pair = await Pair.create([4, 6]);
    const applied = await pair.pod.mesh([...APPLY, "--dual-stack", ...flags]);
    assert.equal(applied.code, 0, applied.stderr);
    for (const { args, ends } of SENT) {
      const { code, stdout, stderr } = await pair.pod.mesh(["iptables", "trace", ...args]);
      assert.equal(code, 0, stderr);
      assert.match(stdout, ends);
      assert.ok(stdout.split("\n").length < 30, stdout);
    }
    assert.ok(!(await pair.pod.shell("nft list tables")).includes("kubectl-mesh"));
  });

  testWhen(
    missing,
    `trace waits for a connection from outside, and leaves nothing behind when it is killed: ${name}`,
    async () => {
      await using pair = await Pair.create([4]);
      await pair.pod.mesh([...APPLY, ...flags]);
      const start = () =>
        new Deno.Command("nsenter", {
          args: [`--net=${pair.pod.path}`, MESH_COMMAND, "iptables", "trace", "--from", "10.199.0.1", "--for", "60s"],
          stdout: "piped",
          stderr: "null",
        }).spawn();
      const runs = async () => (await pair.pod.shell("nft list tables")).includes("kubectl-mesh-trace");
      const seen = start();
      await until(runs);
      await pair.outside.ask([{ host: POD[4], port: 80 }]);
      const { code, stdout } = await seen.output();
      assert.equal(code, 0);
      assert.match(
        new TextDecoder().decode(stdout),
        /^TCP 10\.199\.0\.1:\d+ -> 10\.199\.0\.2:80, received\n[^]*\n=> it is redirected to port 15006\n$/,
      );

      const killed = start();
      await until(runs);
      killed.kill("SIGKILL");
      await killed.output();
      await until(async () => !await runs());
    },
  );
}

testWhen(NFT[0]?.missing, "trace says that no packet came, and that it never sees iptables-legacy", async () => {
  await using pair = await Pair.create([4]);
  const { code, stdout, stderr } = await pair.pod.mesh(["iptables", "trace", "--from", "any", "--for", "300ms"]);
  assert.deepEqual([code, stdout], [1, ""]);
  assert.match(stderr, /^Waiting 0\.3 s .*\nerror: No packet arrived within 0\.3 s; /);
});
