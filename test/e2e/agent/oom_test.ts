/** An Envoy that the kernel kills out of memory, in a cgroup of the test. */
import assert from "node:assert/strict";
import { DEFAULT_RESTART } from "../../../src/agent/lifecycle/rules.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";
import { Agent } from "./support/agent.ts";

const NAME = `mesh-test-${Deno.pid}`;

/** How to set a limit: cgroup v1, or v2 if the root delegates the memory controller. */
const KINDS = [
  {
    folder: `/sys/fs/cgroup/memory/${NAME}`,
    has: "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    limit: "memory.limit_in_bytes",
  },
  { folder: `/sys/fs/cgroup/${NAME}`, has: "/sys/fs/cgroup/cgroup.subtree_control", limit: "memory.max" },
] as const;

const kind = KINDS.find(({ folder, has }) => {
  try {
    if (has.endsWith("_control") && !/\bmemory\b/.test(Deno.readTextFileSync(has))) return false;
    Deno.statSync(has);
    // A container may only see its cgroups.
    Deno.mkdirSync(folder);
    Deno.removeSync(folder);
    return true;
  } catch {
    return false;
  }
});

const missing = Deno.build.os !== "linux"
  ? "not Linux"
  : Deno.uid() !== 0
  ? "needs root"
  : kind === undefined
  ? "no cgroup for memory can be made"
  : needsProgram("python3");

testWhen(missing, "lifecycle: an out-of-memory kill is named, and the exit code is 137", async () => {
  if (kind === undefined) return;
  await Deno.mkdir(kind.folder);
  try {
    await Deno.writeTextFile(`${kind.folder}/${kind.limit}`, String(300 << 20));
    const eat = "import time\nparts = []\nwhile True: parts.append(b'x' * (8 << 20))";
    const agent = new Agent("below PID 1", {
      binary: "python3",
      args: ["-c", eat],
      rules: {
        hotRestart: false,
        restart: DEFAULT_RESTART,
        drain: { duration: 0, exitOnZero: false, minimum: 0, maximum: 0 },
        grace: 1000,
      },
    }, ["sh", "-c", `echo $$ > ${kind.folder}/cgroup.procs; exec "$@"`, "sh"]);
    assert.equal(await agent.code, 137, agent.text);
    assert.match(agent.text, /Envoy \(epoch 0\) was killed by the kernel \(out of memory\)/);
    assert.match(agent.text, /Increase the memory limit of the proxy container/);
  } finally {
    await Deno.remove(kind.folder);
  }
});
