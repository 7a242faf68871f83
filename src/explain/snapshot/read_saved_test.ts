import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { maxPartBytes } from "./snapshot.ts";
import { MANIFEST, manifestText, podOfNode } from "./manifest.ts";
import { readConfigDump, readFolder } from "./read_saved.ts";

const MADE = { schemaVersion: 1, pod: { namespace: "shop", name: "web" }, time: "2026-11-22T18:00:00.000Z" };

function folder(files: Readonly<Record<string, string>>) {
  const entries = Object.entries(files).map(([name, text]) => [`/web/${name}`, text] as const);
  return fakeWorld({ files: Object.fromEntries(entries) });
}

Deno.test("readFolder: pod and time of the manifest; absent parts keep its reasons", async () => {
  const absent = { "rules.nft": { reason: "not-permitted", message: "no NET_ADMIN" } };
  const world = folder({ [MANIFEST]: JSON.stringify({ ...MADE, absent }), "config_dump.json": "{}", "other": "" });
  const { pod, time, parts } = await readFolder(world, "/web");
  assert.deepEqual([pod, time?.toISOString()], [MADE.pod, MADE.time]);
  assert.equal(parts["config_dump.json"].text, "{}");
  assert.deepEqual(parts["rules.nft"], { absent: "not-permitted", message: "no NET_ADMIN" });
  assert.equal(parts["certs.json"].absent, "not-in-snapshot");
});

Deno.test("readFolder: without a manifest pod.json or Envoy's node has the name of the pod", async () => {
  const pod = '{"metadata":{"name":"a","namespace":"default"}}';
  assert.deepEqual((await readFolder(folder({ "pod.json": pod }), "/web")).pod, { namespace: "default", name: "a" });
  const info = '{"node":{"id":"sidecar~10.1.0.9~web-1.shop~shop.svc.cluster.local"}}';
  assert.deepEqual((await readFolder(folder({ "server_info.json": info }), "/web")).pod, {
    namespace: "shop",
    name: "web-1",
  });
  assert.equal(podOfNode("x"), undefined);
});

Deno.test("readFolder: a file that is too large or no text is an absent part with the reason", async () => {
  const big = "x".repeat(maxPartBytes("rules.nft") + 1);
  const { parts } = await readFolder(folder({ "config_dump.json": "{}", "rules.nft": big }), "/web");
  assert.equal(parts["rules.nft"].absent, "too-large");
});

Deno.test("readFolder refuses other folders and newer snapshots", async () => {
  await assert.rejects(readFolder(folder({ "x.txt": "" }), "/web"), /not a snapshot/);
  const newer = folder({ "config_dump.json": "{}", [MANIFEST]: '{"schemaVersion":2}' });
  await assert.rejects(readFolder(newer, "/web"), /newer kubectl-mesh/);
  const other = folder({ "config_dump.json": "{}", [MANIFEST]: "[]" });
  await assert.rejects(readFolder(other, "/web"), /not a JSON object/);
});

Deno.test("readConfigDump: a bare configuration; other files are refused", async () => {
  const world = folder({ "dump.json": '{"configs":[]}', "x.yaml": "a: 1" });
  assert.equal((await readConfigDump(world, "/web/dump.json")).parts["config_dump.json"].text, '{"configs":[]}');
  await assert.rejects(readConfigDump(world, "/web/x.yaml"), /neither a snapshot nor/);
});

Deno.test("readConfigDump: a file that is named as an archive is no text to save as UTF-8", async () => {
  const world = fakeWorld({ files: { "/x.tar.gz": "\xff", "/x.TGZ": "" } });
  for (const file of ["/x.tar.gz", "/x.TGZ"]) {
    await assert.rejects(readConfigDump(world, file), {
      message: "The file is not a gzip archive, or it is damaged",
      place: { file },
    });
  }
});

Deno.test("manifestText is read back", async () => {
  const first = await readFolder(folder({ [MANIFEST]: JSON.stringify(MADE), "config_dump.json": "{}" }), "/web");
  const second = await readFolder(
    folder({ [MANIFEST]: manifestText(first, { program: "1", removed: new Map() }), "config_dump.json": "{}" }),
    "/web",
  );
  assert.deepEqual(second, first);
});

Deno.test("readFolder: the error of a folder of snapshots names one of them", async () => {
  const empty = fakeWorld();
  const list = () => Promise.resolve([{ name: "web", kind: "directory" } as const]);
  await assert.rejects(readFolder({ ...empty, files: { ...empty.files, list } }, "/saved/"), {
    hint: 'name a folder in it, such as "/saved/web"',
  });
  await assert.rejects(readFolder(folder({ other: "" }), "/web"), { hint: /^a snapshot contains files such as / });
});
