import assert from "node:assert/strict";
import { until } from "../../../test/support/until.ts";
import { realWorld } from "../mod.ts";

const { files } = realWorld();

/** Watches paths in a folder and counts the notifications. */
async function watching(paths: readonly string[], body: (folder: string, seen: Seen) => Promise<void>) {
  const folder = await Deno.makeTempDir();
  let stop = () => {};
  const seen: Seen = {
    count: 0,
    start: () => stop = files.watch(paths.map((each) => folder + each), 5, () => seen.count++),
  };
  try {
    await body(folder, seen);
  } finally {
    stop();
    await Deno.remove(folder, { recursive: true });
  }
}

interface Seen {
  count: number;
  start(): void;
}

const turn = (milliseconds = 5) => new Promise((resolve) => setTimeout(resolve, milliseconds));

Deno.test("files.watch() sees the swap of ..data by which ConfigMaps and Secrets change", () =>
  watching(["/tls.crt"], async (folder, seen) => {
    for (const version of ["..1", "..2"]) {
      await Deno.mkdir(`${folder}/${version}`);
      await Deno.writeTextFile(`${folder}/${version}/tls.crt`, version);
    }
    await Deno.symlink("..1", `${folder}/..data`);
    await Deno.symlink("..data/tls.crt", `${folder}/tls.crt`);
    seen.start();
    await Deno.symlink("..2", `${folder}/..data_tmp`);
    await Deno.rename(`${folder}/..data_tmp`, `${folder}/..data`);
    await until(() => seen.count === 1);
  }));

Deno.test("files.watch() reports changes of content only, not of time or inode", () =>
  watching(["/a", "/b"], async (folder, seen) => {
    await Deno.writeTextFile(`${folder}/a`, "same");
    await Deno.writeTextFile(`${folder}/b`, "old");
    seen.start();
    await Deno.writeTextFile(`${folder}/a.new`, "same");
    await Deno.rename(`${folder}/a.new`, `${folder}/a`);
    await turn(50);
    await Deno.writeTextFile(`${folder}/b`, "new");
    await until(() => seen.count > 0);
    assert.equal(seen.count, 1);
  }));

Deno.test("files.watch() reports files that appear and disappear, also in a directory, but not in subfolders", () =>
  watching(["", "/later"], async (folder, seen) => {
    await Deno.mkdir(`${folder}/below`);
    seen.start();
    await Deno.writeTextFile(`${folder}/below/x`, "x");
    await turn(50);
    assert.equal(seen.count, 0);
    await Deno.writeTextFile(`${folder}/later`, "x");
    await until(() => seen.count === 1);
    await Deno.remove(`${folder}/later`);
    await until(() => seen.count === 2);
  }));
