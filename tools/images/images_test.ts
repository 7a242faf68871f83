import assert from "node:assert/strict";
import { needsProgram, testWhen } from "../../test/support/test_when.ts";
import { temporaryFolder } from "../../test/support/temporary_folder.ts";
import { layersOf, readProgram } from "./assemble.ts";
import { complete, type Entry, writeTree } from "./entry.ts";
import { type Image, IMAGES } from "./images.ts";
import { digestOf, layerOf } from "./layer.ts";
import { layoutOf } from "./oci.ts";

const text = (content: string) => new TextEncoder().encode(content);

/** A stand-in for a root file system. */
const TREE: readonly Entry[] = [
  { path: "usr/local/bin/pilot-agent", content: text("program"), mode: 0o755 },
  { path: "usr/local/bin/kubectl-mesh", target: "pilot-agent" },
  { path: "etc/istio/proxy", owner: 1337 },
  { path: "tmp", mode: 0o1777 },
];

const RELEASE = { version: "1.2.3", revision: "abc", architecture: "amd64", seconds: 1_700_000_000 };

async function layout(entries: readonly Entry[]) {
  const layers = await layersOf([{ title: "stand-in", entries }, { title: "empty", entries: [] }], RELEASE.seconds);
  return layoutOf(IMAGES.proxy, layers, RELEASE);
}

Deno.test("complete() adds the folders above, sorts, and keeps the last entry of a path", () => {
  const entries = complete([...TREE, { path: "etc", mode: 0o700 }, { path: "tmp", mode: 0o755 }]);
  assert.deepEqual(entries.map(({ path, mode }) => [path, mode]), [
    ["etc", 0o700],
    ["etc/istio", undefined],
    ["etc/istio/proxy", undefined],
    ["tmp", 0o755],
    ["usr", undefined],
    ["usr/local", undefined],
    ["usr/local/bin", undefined],
    ["usr/local/bin/kubectl-mesh", undefined],
    ["usr/local/bin/pilot-agent", 0o755],
  ]);
});

Deno.test("the same entries in any order give the same bytes, another time gives others", async () => {
  const { digest, diffId } = await layerOf("a", TREE, 5);
  assert.deepEqual((await layerOf("b", TREE.toReversed(), 5)).digest, digest);
  assert.notEqual((await layerOf("a", TREE, 6)).diffId, diffId);
  assert.deepEqual(await layout(TREE), await layout(TREE.toReversed()));
});

Deno.test("a layout holds every blob that it names, under its digest and with its size", async () => {
  const files = await layout(TREE);
  const parsed = (path: string) => JSON.parse(new TextDecoder().decode(files.get(path)));
  for (const [path, bytes] of files) {
    if (path.startsWith("blobs/")) assert.equal(`blobs/${digestOf(bytes).replace(":", "/")}`, path);
  }
  const [{ digest, platform }] = parsed("index.json").manifests;
  const manifest = parsed(`blobs/${digest.replace(":", "/")}`);
  for (const each of [manifest.config, ...manifest.layers]) {
    assert.equal(files.get(`blobs/${each.digest.replace(":", "/")}`)?.length, each.size);
  }
  const { config, rootfs } = parsed(`blobs/${manifest.config.digest.replace(":", "/")}`);
  assert.deepEqual(platform, { architecture: "amd64", os: "linux" });
  assert.deepEqual([config.User, config.Entrypoint], ["1337:1337", ["/usr/local/bin/pilot-agent"]]);
  assert.equal(rootfs.diff_ids.length, manifest.layers.length);
});

testWhen(needsProgram("umoci"), "umoci takes the layout and unpacks what was put in", async () => {
  await using folder = await temporaryFolder();
  const files = [...await layout(TREE)].map(([path, content]) => ({ path, content }));
  await Deno.mkdir(`${folder.path}/image`);
  await writeTree(`${folder.path}/image`, files);
  const args = ["unpack", "--rootless", "--image", `${folder.path}/image:1.2.3`, `${folder.path}/bundle`];
  const { success, stderr } = await new Deno.Command("umoci", { args }).output();
  assert.ok(success, new TextDecoder().decode(stderr));
  const root = `${folder.path}/bundle/rootfs`;
  assert.equal(await Deno.readTextFile(`${root}/usr/local/bin/kubectl-mesh`), "program");
  assert.equal(((await Deno.stat(`${root}/tmp`)).mode ?? 0) & 0o7777, 0o1777);
});

Deno.test("image/Containerfile starts each image as its record says", async () => {
  const lines = (await Deno.readTextFile(new URL("../../image/Containerfile", import.meta.url))).split("\n");
  const stageOf = (name: string) => {
    const start = lines.findIndex((line) => line.endsWith(` AS ${name}`));
    const end = lines.findIndex((line, at) => at > start && line.startsWith("FROM "));
    return lines.slice(start, end < 0 ? undefined : end);
  };
  const valueOf = (stage: readonly string[], key: string) =>
    stage.find((line) => line.startsWith(`${key} `))?.slice(key.length + 1);
  const all: Readonly<Record<string, Image>> = IMAGES;
  for (const [name, { user, entrypoint, command, links, writable }] of Object.entries(all)) {
    const stage = stageOf(name);
    assert.equal(valueOf(stage, "USER"), user);
    assert.deepEqual(JSON.parse(valueOf(stage, "ENTRYPOINT") ?? "[]"), entrypoint);
    assert.deepEqual(JSON.parse(valueOf(stage, "CMD") ?? "[]"), command);
    const names = stageOf("names").join("\n");
    for (const path of Object.keys(links)) assert.match(names, new RegExp(` ${path.split("/").at(-1)}[ ;]`));
    for (const path of writable) assert.ok(names.includes(`/root/${path}`), path);
  }
});

Deno.test("every package of an image is pinned with its version and checksum", async () => {
  const { default: pins } = await import("../../image/packages.json", { with: { type: "json" } });
  const names = Object.values(IMAGES).flatMap(({ packages }): readonly string[] => packages);
  assert.deepEqual(Object.keys(pins.amd64), [...new Set(names)].toSorted());
  for (const { version, sha256 } of Object.values(pins.amd64)) {
    assert.match(`${version} ${sha256}`, /^[\w.+~:-]+ [0-9a-f]{64}$/);
  }
});

Deno.test("a program for another processor, and what is none, is refused", async () => {
  await using folder = await temporaryFolder();
  const file = `${folder.path}/program`;
  const header = new Uint8Array(64);
  header.set(text("\x7fELF"));
  header[18] = 183;
  await Deno.writeFile(file, header);
  assert.deepEqual(await readProgram(file, "arm64"), header);
  await assert.rejects(readProgram(file, "amd64"), /program" is not a program for amd64/);
  await Deno.writeTextFile(file, "#!/bin/sh\n");
  await assert.rejects(readProgram(file, "arm64"), /not a program for arm64/);
});
