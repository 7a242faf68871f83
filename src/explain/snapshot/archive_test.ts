import assert from "node:assert/strict";
import { packTar } from "modern-tar";
import { realWorld } from "../../platform/mod.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { temporaryFolder } from "../../../test/support/temporary_folder.ts";
import { needsProgram, testWhen } from "../../../test/support/test_when.ts";
import { isArchive, readArchive, writeArchive } from "./archive.ts";
import { absentPart, allParts, type Part, PART_NAMES, type Snapshot } from "./snapshot.ts";

const SNAPSHOT: Snapshot = {
  pod: { namespace: "shop", name: "web" },
  time: new Date("2026-01-02T03:04:05Z"),
  origin: "pod/web",
  parts: allParts(
    new Map<string, Part>([
      ["config_dump.json", { text: `{"configs":[],"text":"ä${"x".repeat(2000)}"}\n` }],
      ["ready.txt", { text: "LIVE\n" }],
      ["rules.nft", absentPart("not-permitted", "the container lacks NET_ADMIN")],
    ]),
  ),
};

const PROGRAM = "9.9.9";

async function* of(...snapshots: readonly Snapshot[]): AsyncGenerator<Snapshot> {
  yield* snapshots;
}

/** The only snapshot of an archive. */
function only([first, ...others]: readonly Snapshot[]): Snapshot {
  assert.ok(first !== undefined && others.length === 0);
  return first;
}

testWhen(needsProgram("tar"), "an archive is read again, by tar too, and only its owner may read it", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/web.tar.gz`;
  await writeArchive(realWorld(), of(SNAPSHOT), { path, program: PROGRAM, isMany: false, written: () => {} });
  assert.equal(((await Deno.stat(path)).mode ?? 0) & 0o777, 0o600);
  assert.equal(await isArchive(realWorld(), path), true);
  const read = only(await readArchive(realWorld(), path));
  assert.deepEqual([read.pod, read.time, read.parts], [SNAPSHOT.pod, SNAPSHOT.time, SNAPSHOT.parts]);
  const { success, stdout } = await new Deno.Command("tar", { args: ["-tvzf", path] }).output();
  assert.equal(success, true);
  assert.match(new TextDecoder().decode(stdout), /^(?:-rw------- \S+ +\d+ \S+ \S+ \S+\n)+$/);
  await new Deno.Command("tar", { args: ["-xzf", path, "-C", folder.path] }).output();
  await new Deno.Command("tar", {
    args: ["-czf", `${folder.path}/again.tar.gz`, "-C", folder.path, "./manifest.json", "./ready.txt"],
  }).output();
  const again = only(await readArchive(realWorld(), `${folder.path}/again.tar.gz`));
  assert.equal(again.parts["ready.txt"].text, "LIVE\n");
});

const MANIFEST = { name: "manifest.json", content: new TextEncoder().encode('{"schemaVersion":1}') };

interface TarFile {
  readonly name: string;
  readonly content: Uint8Array;
}

const file = (name: string, content: string | Uint8Array): TarFile => ({
  name,
  content: typeof content === "string" ? new TextEncoder().encode(content) : content,
});

function tarOf(files: readonly TarFile[]): Promise<Uint8Array<ArrayBuffer>> {
  return packTar(files.map(({ name, content }) => ({ header: { name, size: content.length }, body: content })));
}

async function gzip(...chunks: Uint8Array<ArrayBuffer>[]): Promise<Uint8Array> {
  return await new Response(ReadableStream.from(chunks).pipeThrough(new CompressionStream("gzip"))).bytes();
}

async function packed(files: readonly TarFile[], cut = 0): Promise<Uint8Array> {
  const bytes = await gzip(await tarOf(files));
  return bytes.subarray(0, bytes.length - cut);
}

async function readBytes(bytes: Uint8Array): Promise<Snapshot> {
  return only(await readArchive(fakeWorld({ files: { "a.tar.gz": bytes } }), "a.tar.gz"));
}

Deno.test("file names in an archive are not used as paths: only known files are read", async () => {
  const world = fakeWorld({
    files: { "a.tar.gz": await packed([MANIFEST, file("../../etc/ready.txt", "LIVE"), file("../../etc/passwd", "x")]) },
  });
  const { parts } = only(await readArchive(world, "a.tar.gz"));
  assert.equal(parts["ready.txt"].text, "LIVE");
  assert.deepEqual([...world.content.keys()], ["a.tar.gz"]);
});

Deno.test("a file of the snapshot that is too large is left out, and the other files are read", async () => {
  const large = file("certs.json", new Uint8Array(9 * 1024 * 1024));
  const { parts } = await readBytes(await packed([large, MANIFEST, file("ready.txt", "LIVE")]));
  assert.deepEqual([parts["certs.json"].absent, parts["ready.txt"].text], ["too-large", "LIVE"]);
});

Deno.test("a file that is not UTF-8 is left out", async () => {
  const { parts } = await readBytes(await packed([MANIFEST, file("ready.txt", new Uint8Array([0xff, 0xfe]))]));
  assert.equal(parts["ready.txt"].absent, "malformed");
});

Deno.test("hostile and damaged archives are errors", async () => {
  const many = Array.from({ length: 10_001 }, (_, at) => file(`f${at}`, ""));
  const zeros = new Uint8Array(64 * 1024 * 1024);
  const bomb = Array.from({ length: 9 }, () => zeros);
  const broken = await tarOf([MANIFEST]);
  broken.set([0x31], 124);
  const whole = await tarOf([file("ready.txt", "x".repeat(2000))]);
  const cases: readonly [Uint8Array, RegExp][] = [
    [await packed(many), /more than 10000 files/],
    [await gzip(...bomb), /more than 536870912 bytes/],
    [await packed([MANIFEST], 30), /cannot be read/],
    [await gzip(whole.subarray(0, 512)), /is truncated/],
    [await gzip(whole.subarray(0, -1024)), /is truncated/],
    [await gzip(new Uint8Array([1, 2, 3])), /is truncated/],
    [await gzip(broken), /not a tar archive/],
    [await gzip(new TextEncoder().encode("x".repeat(600))), /not a tar archive/],
    [await packed([file("ready.txt", "LIVE")]), /does not contain manifest\.json/],
    [await packed([file("manifest.json", '{"schemaVersion":7}')]), /schema version 7/],
  ];
  for (const [bytes, message] of cases) await assert.rejects(readBytes(bytes), { name: "MeshError", message });
});

Deno.test("an archive has several pods, each in a folder", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/shop.tar.gz`;
  const other = { ...SNAPSHOT, pod: { namespace: "shop", name: "cart" } };
  const counts: string[] = [];
  const written = ({ pod }: Snapshot) => void counts.push(pod.name);
  await writeArchive(realWorld(), of(SNAPSHOT, other), { path, program: PROGRAM, isMany: true, written });
  const read = await readArchive(realWorld(), path);
  assert.deepEqual([read.map(({ pod }) => pod.name), counts], [["web", "cart"], ["web", "cart"]]);
  assert.equal(read[1]?.parts["ready.txt"].text, "LIVE\n");
});

Deno.test("an archive has as many pods as can be read again, and a file beside them that is no pod's", async () => {
  await using folder = await temporaryFolder();
  const path = `${folder.path}/a.tar.gz`;
  const whole = { ...SNAPSHOT, parts: allParts(new Map(PART_NAMES.map((name) => [name, { text: "{}" }]))) };
  const left: string[] = [];
  let written = 0;
  await writeArchive(realWorld(), of(...Array.from({ length: 530 }, () => whole)), {
    path,
    program: PROGRAM,
    isMany: true,
    written: () => written++,
    full: (what) => left.push(what),
    beside: () => ({ name: "istiod.json", text: "{}" }),
  });
  assert.ok(written > 400);
  assert.deepEqual(left, Array.from({ length: 530 - written }, () => "pod/web"));
  assert.equal((await readArchive(realWorld(), path)).length, written);
});
