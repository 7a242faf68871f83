import assert from "node:assert/strict";
import { fakeWorld } from "../../core/world/mod.ts";
import { main } from "../mod.ts";

async function told(name: string, ...args: string[]): Promise<string[]> {
  const world = fakeWorld({ name, args });
  assert.equal(await main(world), 0);
  assert.equal(world.said.stderr, "");
  return world.said.stdout.split("\n");
}

async function values(...words: string[]) {
  const lines = (await told("kubectl_complete-mesh", ...words)).slice(0, -1);
  return { values: lines.slice(0, -1).map((line) => line.split("\t")[0]), directive: lines.at(-1) };
}

Deno.test("completion speaks Cobra's protocol, under kubectl's name and as __complete", async () => {
  const lines = await told("kubectl_complete-mesh", "inj");
  assert.deepEqual(lines, ["inject\tWrite manifests with the sidecar injected", ":4", ""]);
  assert.deepEqual(await told("kubectl-mesh", "__complete", "inj"), lines);
});

const CASES: readonly (readonly [words: string[], expected: string[], directive: string])[] = [
  [
    [""],
    ["inject", "uninject", "check", "explain", "capture", "webhook", "iptables", "agent", "wait", "version"],
    ":4",
  ],
  [["w"], ["webhook", "wait"], ":4"],
  [["webhook", ""], ["serve", "manifests"], ":4"],
  [["check", "in"], ["injection", "injector-configuration"], ":4"],
  [["check", "webhook", "w"], ["webhook", "workloads"], ":4"],
  [["agent", "r"], ["router"], ":4"],
  [["inject", "--inj"], ["--inject-config", "--injectConfigMapName"], ":4"],
  [["inject", "-"], [], ""],
  [["inject", "--report", ""], ["text", "changed", "json", "none"], ":4"],
  [["inject", "--report=j"], ["json"], ":4"],
  [["inject", "-o", "j"], ["json"], ":0"],
  [["inject", "-f", ""], [], ":0"],
  [["inject", "--inject-config=a"], [], ":0"],
  [["inject", "--cni="], ["true", "false"], ":4"],
  [["inject", "--cni", "--rep"], ["--report"], ":4"],
  [["inject", "--namespace", "x"], [], ":4"],
  [["inject", "--help", ""], [], ":4"],
  [["wait", "--", "/bin/s"], [], ":0"],
  [["nothing", ""], [], ":4"],
];

for (const [words, expected, directive] of CASES) {
  Deno.test(`completion of "${words.join(" ")}"`, async () => {
    const read = await values(...words);
    if (directive === "") {
      assert.ok(read.values.includes("-f") && read.values.includes("--filename") && read.values.includes("--help"));
      return;
    }
    assert.deepEqual(read, { values: expected, directive });
  });
}
