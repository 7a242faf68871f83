import assert from "node:assert/strict";
import { testWhen } from "../../../test/support/test_when.ts";
import { realWorld } from "../mod.ts";
import { openLibc } from "./libc.ts";

const { system } = realWorld();
const notLinux = Deno.build.os === "linux" ? undefined : "not Linux";

// The C library is opened by the first who needs it and stays open, which the sanitizer of a test would call a leak.
if (notLinux === undefined) system.memoryReleaser()();

/** Kilobytes of files in the memory of this process. */
async function ofFiles(): Promise<number> {
  return Number(/^RssFile:\s+(\d+) kB$/m.exec(await Deno.readTextFile("/proc/self/status"))?.[1]);
}

testWhen(notLinux, "memoryReleaser() drops pages of the program, which continues", async () => {
  // Pages that are used come back.
  assert.equal(new Intl.NumberFormat("de").format(1234.5), "1.234,5");
  const before = await ofFiles();
  system.memoryReleaser()();
  const after = await ofFiles();
  assert.ok(after < before, `${before} kB before, ${after} kB after`);
  assert.equal(new Intl.NumberFormat("de").format(1234.5), "1.234,5");
  assert.equal(await new Response(new Blob(["text"]).stream()).text(), "text");
});

/** Why the kernel does not watch writes to the pages of files. */
function notWatched(): string | undefined {
  if (notLinux !== undefined) return notLinux;
  const [major = 0, minor = 0] = Deno.osRelease().split(".").map(Number);
  if (major < 6 || major === 6 && minor < 7) return "older than Linux 6.7";
  const number = { x86_64: 323n, aarch64: 282n }[Deno.build.arch];
  using libc = openLibc({
    syscall: { parameters: ["isize", "isize"], result: "isize" },
    close: { parameters: ["i32"], result: "i32" },
  });
  const file = Number(libc.symbols.syscall(number, 1n));
  if (file < 0) return `userfaultfd(2): error ${libc.errno()}`;
  libc.symbols.close(file);
  return undefined;
}

testWhen(notWatched(), "memoryReleaser() has the kernel map single pages of the program", async () => {
  const mappings = (await Deno.readTextFile("/proc/self/smaps")).split(/^(?=[0-9a-f]+-)/m);
  const text = mappings.find((each) => / r-xp .*\n/.test(each) && each.includes(Deno.execPath())) ?? "";
  // "uw": userfaultfd(2) watches writes (proc_pid_smaps(5)).
  assert.match(text, /^VmFlags:.* uw( |$)/m);
});
