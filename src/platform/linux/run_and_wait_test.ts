import assert from "node:assert/strict";
import { realProcesses } from "../deno/processes.ts";
import type { Run } from "../world.ts";

/** The C library is opened by the first who needs it and stays open, which the sanitizer of a test would call a leak. */
function test(name: string, fn: () => Promise<void>): void {
  const isHere = Deno.build.os === "linux";
  Deno.test({ name: `${name}${isHere ? "" : " [skipped: not Linux]"}`, ignore: !isHere, sanitizeResources: false, fn });
}

const runAndWait = (run: Run) => realProcesses.begin(run)();
const shell = (script: string, more: Partial<Run> = {}) => runAndWait({ command: "sh", args: ["-c", script], ...more });

test("begin() gives input and environment to the program, and returns both outputs and the exit code", async () => {
  const result = await shell('read -r line; echo "$line $WORD $HOME"; echo oops >&2; exit 7', {
    stdin: "hello\n",
    env: { WORD: "there" },
  });
  assert.deepEqual(result, {
    code: 7,
    stdout: `hello there ${Deno.env.get("HOME") ?? ""}\n`,
    stderr: "oops\n",
    timedOut: false,
  });
});

test("begin() runs programs in parallel", async () => {
  const fifo = await Deno.makeTempFile();
  await Deno.remove(fifo);
  await new Deno.Command("mkfifo", { args: [fifo] }).output();
  const scripts = [`read -r line <${fifo}; echo "$line"`, `echo met >${fifo}`];
  const ends = scripts.map((script) => realProcesses.begin({ command: "sh", args: ["-c", script] }));
  const results = await Promise.all(ends.map((end) => end()));
  assert.deepEqual(results.map(({ code, stdout }) => ({ code, stdout })), [{ code: 0, stdout: "met\n" }, {
    code: 0,
    stdout: "",
  }]);
  await Deno.remove(fifo);
});

test("begin() reads large outputs and characters of several bytes", async () => {
  const { stdout, stderr } = await shell(
    'i=0; while [ $i -lt 20000 ]; do echo "äöü€"; echo "€öüä" >&2; i=$((i+1)); done',
  );
  assert.equal(stdout, "äöü€\n".repeat(20000));
  assert.equal(stderr, "€öüä\n".repeat(20000));
});

test("begin() reports a program that does not exist, is killed, times out, or closes its outputs and continues", async () => {
  assert.equal((await runAndWait({ command: "no-such-program-here" })).code, 127);
  assert.equal((await shell("kill -TERM $$")).code, 143);
  const late = await shell("exec sleep 60", { timeoutMilliseconds: 30 });
  assert.deepEqual([late.code, late.timedOut], [137, true]);
  assert.equal((await shell("exec >&- 2>&-; exit 3")).code, 3);
  assert.equal((await shell("exec sleep 60 >&- 2>&-", { timeoutMilliseconds: 30 })).timedOut, true);
});

test("begin() gives input that the program does not read, and input that exceeds a pipe", async () => {
  assert.equal((await runAndWait({ command: "true", stdin: "unread" })).code, 0);
  const stdin = "x".repeat(200_000);
  assert.equal((await runAndWait({ command: "cat", stdin })).stdout, stdin);
});

test("begin() leaves no open file", async () => {
  await shell("true");
  const files = () => [...Deno.readDirSync("/proc/self/fd")].length;
  const before = files();
  for (let round = 0; round < 5; round++) await shell("echo; echo >&2");
  await runAndWait({ command: "no-such-program-here" });
  assert.equal(files(), before);
});
