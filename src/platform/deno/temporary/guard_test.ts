import assert from "node:assert/strict";
import { temporaryFolder } from "../../../../test/support/temporary_folder.ts";
import { testWhen } from "../../../../test/support/test_when.ts";

const isWindows = Deno.build.os === "windows" ? "Windows" : undefined;
const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";
const MODULE = new URL("./mod.ts", import.meta.url).href;
const GUARD = new URL("./guard.ts", import.meta.url).href;
const SIGNALS = new URL("../signals.ts", import.meta.url).href;

/** Runs a program that uses this module, sends it a signal when it prints a line. Returns how it ends and what is left. */
async function ended(code: string, signal?: Deno.Signal, shell = "exec") {
  await using folder = await temporaryFolder();
  const program = `${folder.path}/program.ts`;
  const temporary = `${folder.path}/tmp`;
  await Deno.mkdir(temporary);
  const imports = `import { temporaryFile, temporaryFolder } from "${MODULE}"; import { signals } from "${SIGNALS}";`;
  await Deno.writeTextFile(program, `${imports}\nconst made = temporaryFolder(Deno.env.get("TMPDIR")!);\n${code}`);
  const run = `${shell} "${Deno.execPath()}" run --quiet --no-config --no-check --allow-all ${program}`;
  const child = new Deno.Command("sh", {
    args: ["-c", run],
    env: { TMPDIR: temporary },
    stdin: "null",
    stdout: "piped",
  }).spawn();
  const reader = child.stdout.getReader();
  const { value } = await reader.read();
  if (value !== undefined && signal !== undefined) child.kill(signal);
  const { code: exit } = await child.status;
  await reader.cancel();
  return { exit, left: (await Array.fromAsync(Deno.readDir(temporary))).length };
}

const WAIT = 'console.log("made"); setTimeout(() => console.log("late"), 60_000);';

for (const [signal, exit] of [["SIGHUP", 129], ["SIGINT", 130], ["SIGQUIT", 131], ["SIGTERM", 143]] as const) {
  testWhen(isWindows, `guard() removes a folder when ${signal} ends the process`, async () => {
    assert.deepEqual(await ended(WAIT, signal), { exit, left: 0 });
  });
}

testWhen(isWindows, "guard() removes a folder at an exit", async () => {
  assert.deepEqual(await ended("Deno.exit(3);"), { exit: 3, left: 0 });
  assert.deepEqual(await ended(""), { exit: 0, left: 0 });
});

testWhen(isWindows, "guard() leaves the exit to a command that handles the signal", async () => {
  const handled = `signals.on("SIGTERM", () => Deno.exit(7)); ${WAIT}`;
  assert.deepEqual(await ended(handled, "SIGTERM"), { exit: 7, left: 0 });
});

testWhen(isWindows, "guard() lets signals end the process at once when nothing is left to remove", async () => {
  assert.deepEqual(await ended(`made.remove(); ${WAIT}`, "SIGHUP"), { exit: 129, left: 0 });
});

testWhen(isWindows, "keepGuard(): a signal that arrives while the last folder is removed is not lost", async () => {
  const code = `const { keepGuard } = await import("${GUARD}");
keepGuard();
Deno.kill(Deno.pid, "SIGTERM");
made.remove();
setTimeout(() => Deno.exit(5), 5000);`;
  assert.deepEqual(await ended(code), { exit: 143, left: 0 });
});

testWhen(
  notLinux,
  "a signal that the process was started with ignored stays ignored, also after the guard",
  async () => {
    const waits = 'console.log("made"); setTimeout(() => Deno.exit(5), 300);';
    for (const code of [waits, `made.remove(); ${waits}`]) {
      assert.deepEqual(await ended(code, "SIGHUP", "trap '' HUP; exec"), { exit: 5, left: 0 });
    }
  },
);

testWhen(isWindows, "temporaryFile() has no name, and what was written can be read", async () => {
  const code = `const file = temporaryFile();
file.writeSync(new Uint8Array([7]));
file.seekSync(0, Deno.SeekMode.Start);
const read = new Uint8Array(1);
file.readSync(read);
Deno.exit(read[0] === 7 && [...Deno.readDirSync(Deno.env.get("TMPDIR"))].length === 1 ? 9 : 1);`;
  assert.deepEqual(await ended(code), { exit: 9, left: 0 });
});

testWhen(notLinux, "temporaryFolder() removes what a killed process left", async () => {
  const plant = `const other = made.path.replace(/-[0-9a-z]+-([^-]+)$/, "-1-$1");
Deno.mkdirSync(other, { mode: 0o700 });
const { temporaryFolder: again } = await import("${MODULE}?again");
again([Deno.env.get("TMPDIR")]).remove();
made.remove();`;
  assert.deepEqual(await ended(plant), { exit: 0, left: 0 });
});
