import assert from "node:assert/strict";
import { testWhen } from "../../../../test/support/test_when.ts";
import type { KeptLines } from "../world.ts";
import { keptLines } from "./kept_lines.ts";

const isWindows = Deno.build.os === "windows" ? "Windows has no owners and modes" : undefined;

/** Runs in a new folder, whose path with `/cache` is the body's argument. */
async function inCache(body: (folder: string) => void) {
  const parent = await Deno.makeTempDir();
  try {
    body(`${parent}/cache`);
  } finally {
    await Deno.remove(parent, { recursive: true });
  }
}

/** What `use` says of the lines of a folder; `undefined` if they are not opened. */
function opened<T>(folder: string, use: (lines: KeptLines) => T): T | undefined {
  const lines = keptLines(folder, "lines");
  const result = lines === undefined ? undefined : use(lines);
  lines?.close();
  return result;
}

const add = (folder: string, line: string) => opened(folder, (lines) => lines.add(line));
const find = (folder: string, word: string) => opened(folder, (lines) => lines.find(word));

testWhen(
  isWindows,
  "keptLines: lines are there in the next run, in a file and folder of this user alone",
  () =>
    inCache((folder) => {
      opened(folder, (one) => {
        add(folder, "a 1");
        one.add("b 2 3");
        add(folder, "a 4");
      });
      assert.deepEqual(["a", "b", "c", "2"].map((word) => find(folder, word)), ["4", "2 3", undefined, undefined]);
      const modes = [folder, `${folder}/lines`].map((path) => (Deno.statSync(path).mode ?? 0) & 0o777);
      assert.deepEqual(modes, [0o700, 0o600]);
    }),
);

testWhen(isWindows, "keptLines: a line that was cut off is none, and the next one is whole", () =>
  inCache((folder) => {
    add(folder, "abc def");
    Deno.truncateSync(`${folder}/lines`, Deno.statSync(`${folder}/lines`).size - 2);
    assert.equal(find(folder, "abc"), undefined);
    add(folder, "next line");
    assert.deepEqual([find(folder, "next"), find(folder, "abc")], ["line", "de"]);
  }));

testWhen(
  isWindows,
  "keptLines: a file that would be too large begins anew, and a line that is too large is not kept",
  () =>
    inCache((folder) => {
      const text = "x".repeat(300_000);
      for (let n = 0; n < 4; n++) add(folder, `${n} ${text}`);
      add(folder, `4 ${text.repeat(4)}`);
      assert.ok(Deno.statSync(`${folder}/lines`).size < 300_100);
      assert.deepEqual(["0", "3", "4"].map((word) => find(folder, word)?.length), [undefined, text.length, undefined]);
      Deno.truncateSync(`${folder}/lines`, 2_000_000);
      assert.equal(find(folder, "3"), undefined);
      add(folder, "5 a");
      assert.equal(find(folder, "5"), "a");
    }),
);

testWhen(
  isWindows,
  "keptLines: nothing is opened that others could write, or that is not a file of this program",
  () =>
    inCache((folder) => {
      const file = `${folder}/lines`;
      const refused = (spoil: () => void) => {
        add(folder, "a b");
        spoil();
        assert.equal(find(folder, "a"), undefined);
        Deno.removeSync(folder, { recursive: true });
      };
      refused(() => Deno.chmodSync(folder, 0o770));
      refused(() => Deno.chmodSync(file, 0o622));
      refused(() => Deno.writeTextFileSync(file, "secret\n"));
      refused(() => Deno.linkSync(file, `${folder}/second`));
      refused(() => {
        Deno.renameSync(file, `${folder}/other`);
        Deno.symlinkSync("other", file);
      });
      const real = `${folder}-real`;
      Deno.mkdirSync(real, { mode: 0o700 });
      Deno.symlinkSync(real, folder);
      assert.equal(find(folder, "a"), undefined);
      assert.deepEqual([...Deno.readDirSync(real)], []);
    }),
);

testWhen(
  isWindows,
  "keptLines: where no folder can be made nothing is kept",
  () => inCache((folder) => assert.equal(find(`${folder}/deeper/still`, "a"), undefined)),
);
