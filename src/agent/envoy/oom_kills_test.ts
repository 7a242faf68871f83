import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { outOfMemoryKills } from "./oom_kills.ts";

const EVENTS = "low 0\nhigh 0\nmax 12\noom 2\noom_kill 3\noom_group_kill 0\n";
const CONTROL = "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n";

const CASES: readonly (readonly [string, Record<string, string>, number])[] = [
  ["v2 in a cgroup namespace", { "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/memory.events": EVENTS }, 3],
  ["v2 with the path of the host", {
    "/proc/self/cgroup": "0::/kubepods/pod1\n",
    "/sys/fs/cgroup/kubepods/pod1/memory.events": EVENTS,
    "/sys/fs/cgroup/memory.events": "oom_kill 9\n",
  }, 3],
  ["v2, own group mounted", { "/proc/self/cgroup": "0::/kubepods/p\n", "/sys/fs/cgroup/memory.events": EVENTS }, 3],
  ["v1", {
    "/proc/self/cgroup": "9:name=systemd:/\n4:memory:/docker/1\n0::/\n",
    "/sys/fs/cgroup/memory/docker/1/memory.oom_control": CONTROL,
  }, 4],
  ["v1 in a container", {
    "/proc/self/cgroup": "4:cpu,memory:/docker/1\n",
    "/sys/fs/cgroup/memory/memory.oom_control": CONTROL,
  }, 4],
  ["nothing mounted", { "/proc/self/cgroup": "0::/\n" }, 0],
  ["no cgroups", {}, 0],
];

for (const [name, files, kills] of CASES) {
  Deno.test(`outOfMemoryKills(): ${name}`, async () => {
    assert.equal(await outOfMemoryKills(fakeWorld({ files })), kills);
  });
}
