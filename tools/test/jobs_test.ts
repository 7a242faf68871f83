import assert from "node:assert/strict";
import { filesBelow, read, ROOT } from "../../test/house/source.ts";
import { ALONE, filesOf, FIRST, HEAVY, inOrder, jobsOf, longJobsOf, runsProgram } from "./jobs.ts";

Deno.test("runsProgram(): tests that start the program themselves or through others", () => {
  assert.equal(runsProgram("test/golden/cli_process_test.ts"), true);
  assert.equal(runsProgram("test/e2e/iptables/flows_test.ts"), true);
  assert.equal(runsProgram("test/golden/inject_test.ts"), false);
});

Deno.test("one module of the tests knows the binary: tests without it do not run again with a binary", () => {
  const readers = filesBelow("test").filter((file) => file.endsWith(".ts") && read(file).includes('"MESH_BINARY"'));
  assert.deepEqual(readers, ["test/support/programs/mesh.ts"]);
});

Deno.test("the files that start first and those that run alone exist", () => {
  const files = filesOf("e2e", ROOT);
  assert.deepEqual([...FIRST, ...ALONE].filter((file) => !files.includes(file)), []);
});

Deno.test("the heavy files exist, and CI runs each: with the compiled binary", () => {
  const files = filesOf("e2e", ROOT);
  assert.deepEqual(HEAVY.filter((file) => !files.includes(file) || !runsProgram(file)), []);
  assert.match(read(".ci/run"), /^suite .* env MESH_BINARY=\S+ tools\/deno task --quiet test golden e2e$/m);
});

Deno.test("unit tests are modules of one, but for those that may leave something open", () => {
  const jobs = jobsOf("unit", filesOf("unit", ROOT), ROOT);
  const joined = (file: string) => jobs.filter(({ files }) => files.includes(file)).map(({ joined }) => joined);
  assert.deepEqual(joined("src/platform/log_test.ts"), [true]);
  assert.deepEqual(joined("src/platform/deno/processes_test.ts"), [false]);
});

Deno.test("inOrder(): slow files, unit tests, short files", () => {
  const job = (suite: string, file: string) => ({ suite, files: [file], joined: false, needsCluster: false });
  const [first = "", second = ""] = FIRST;
  const jobs = [job("unit", "a"), job("golden", "b"), job("e2e", "c"), job("e2e", second), job("e2e", first)];
  assert.deepEqual(inOrder(jobs).map(({ files: [file] }) => file), [first, second, "a", "b", "c"]);
});

Deno.test("longJobsOf(): the tests that do more in a long run, each in a process of its own", () => {
  const files = ["test/e2e/faults/agent_signals_test.ts", "test/e2e/mesh/shapes_test.ts", "test/e2e/docs_test.ts"];
  assert.deepEqual(longJobsOf("e2e", files, ROOT), [
    { suite: "e2e", files: ["test/e2e/faults/agent_signals_test.ts"], joined: false, needsCluster: false },
    { suite: "e2e", files: ["test/e2e/mesh/shapes_test.ts"], joined: false, needsCluster: true },
  ]);
});

Deno.test("one module of the tests knows whether a run is long", () => {
  const readers = filesBelow("test").filter((file) => file.endsWith(".ts") && read(file).includes('"--long"'));
  assert.deepEqual(readers, ["test/support/long.ts"]);
});
