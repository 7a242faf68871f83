import assert from "node:assert/strict";
import { testWhen } from "../../../../test/support/test_when.ts";
import type { KeptTexts } from "../world.ts";
import { keptTexts } from "./kept_texts.ts";

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

/** What `use` says of the texts of a folder; `undefined` if they are not opened. */
function opened<T>(folder: string, use: (texts: KeptTexts) => T): T | undefined {
  const texts = keptTexts(folder, "texts");
  const result = texts === undefined ? undefined : use(texts);
  texts?.close();
  return result;
}

const add = (folder: string, name: string, text: string) => opened(folder, (texts) => texts.add(name, text));
const find = (folder: string, name: string) => opened(folder, (texts) => [...texts.find(name)]);

testWhen(
  isWindows,
  "keptTexts: texts are there in the next run, the latest first, in a file and folder of this user alone",
  () =>
    inCache((folder) => {
      add(folder, "a", "1\n2 3\n");
      opened(folder, (one) => {
        one.add("b", "ä €");
        add(folder, "a", "");
      });
      assert.deepEqual(["a", "b", "c", "2"].map((name) => find(folder, name)), [["", "1\n2 3\n"], ["ä €"], [], []]);
      const modes = [folder, `${folder}/texts`].map((path) => (Deno.statSync(path).mode ?? 0) & 0o777);
      assert.deepEqual(modes, [0o700, 0o600]);
    }),
);

testWhen(
  isWindows,
  "keptTexts: a text that was cut off is none, and the file begins anew with the next one",
  () =>
    inCache((folder) => {
      const file = `${folder}/texts`;
      add(folder, "whole", "text");
      add(folder, "abc", "def");
      for (const cut of [1, 3, 7]) {
        Deno.truncateSync(file, Deno.statSync(file).size - cut);
        assert.deepEqual([find(folder, "abc"), find(folder, "whole")], [[], cut === 7 ? [] : ["text"]]);
      }
      add(folder, "next", "one");
      assert.deepEqual([find(folder, "next"), find(folder, "whole")], [["one"], []]);
    }),
);

testWhen(
  isWindows,
  "keptTexts: a file that would be too large begins anew, and a text that is too large is not kept",
  () =>
    inCache((folder) => {
      const file = `${folder}/texts`;
      const text = "x".repeat(1_200_000);
      for (let n = 0; n < 4; n++) add(folder, String(n), text);
      add(folder, "4", text.repeat(4));
      assert.ok(Deno.statSync(file).size < 1_200_100);
      assert.deepEqual(["0", "3", "4"].map((name) => find(folder, name)?.length), [0, 1, 0]);
      Deno.truncateSync(file, 8_000_000);
      assert.equal(find(folder, "3")?.length, 1);
      add(folder, "5", "a");
      assert.deepEqual([find(folder, "3"), find(folder, "5")], [[], ["a"]]);
    }),
);

testWhen(
  isWindows,
  "keptTexts: nothing is opened that others could write, or that is not a file of this program",
  () =>
    inCache((folder) => {
      const file = `${folder}/texts`;
      const refused = (spoil: () => void) => {
        add(folder, "a", "b");
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
  "keptTexts: where no folder can be made nothing is kept",
  () => inCache((folder) => assert.equal(find(`${folder}/deeper/still`, "a"), undefined)),
);
