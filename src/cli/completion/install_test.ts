import assert from "node:assert/strict";
import { MeshError } from "../../base/errors.ts";
import { fakeWorld, type FakeWorldOptions } from "../../../test/support/fake_world.ts";
import { main } from "../mod.ts";
import { KUBECTL } from "./scripts.ts";

const BIN = { "/opt/krew/bin/kubectl-mesh": "", "/usr/bin/ls": "" };
const ENV = { HOME: "/home/ada", PATH: "/usr/bin:/opt/krew/bin/:/home/ada/.local/bin" };
const BESIDE = "/opt/krew/bin/kubectl_complete-mesh";

async function install(options: FakeWorldOptions, args: readonly string[] = [], readOnly = "-") {
  const world = fakeWorld({ env: ENV, files: BIN, ...options, args: ["completion", "install-kubectl", ...args] });
  const { writeText } = world.files;
  const files = {
    ...world.files,
    writeText: (path: string, text: string, mode?: number) => {
      if (path.startsWith(readOnly)) throw new MeshError(`Cannot write "${path}"`);
      assert.equal(mode, 0o755);
      writeText(path, text, mode);
    },
  };
  const code = await main({ ...world, files });
  return { code, ...world.said, text: (path: string) => new TextDecoder().decode(world.content.get(path)) };
}

Deno.test("install-kubectl writes beside the kubectl-mesh that kubectl starts", async () => {
  const { code, stdout, stderr, text } = await install({});
  assert.deepEqual([code, stdout, stderr], [0, `${BESIDE}\n`, ""]);
  assert.equal(text(BESIDE), KUBECTL);
  assert.match(KUBECTL, /^#!\/bin\/sh\n[^]*exec kubectl-mesh __complete "\$@" 2>\/dev\/null\n$/);
});

Deno.test("install-kubectl reports an existing file, and replaces its own older file", async () => {
  const same = await install({ files: { ...BIN, [BESIDE]: KUBECTL } });
  assert.deepEqual([same.code, same.stdout, same.stderr], [0, `${BESIDE}\n`, "note: The file already exists\n"]);
  const old = await install({ files: { ...BIN, [BESIDE]: "# kubectl mesh completion install-kubectl\nold\n" } });
  assert.deepEqual([old.code, old.text(BESIDE)], [0, KUBECTL]);
});

Deno.test("install-kubectl does not overwrite another program's file", async () => {
  for (const text of ["#!/bin/sh\necho mine\n", "x".repeat(5000)]) {
    const { code, stdout, stderr, text: left } = await install({ files: { ...BIN, [BESIDE]: text } });
    assert.deepEqual([code, stdout, left(BESIDE)], [1, "", text]);
    assert.equal(
      stderr,
      `error: "${BESIDE}" exists, and this command did not write it; remove it, or name another folder with --dir\n`,
    );
  }
});

Deno.test("install-kubectl takes a folder of PATH in the home folder where the first cannot be written", async () => {
  const { code, stdout } = await install({}, [], "/opt");
  assert.deepEqual([code, stdout], [0, "/home/ada/.local/bin/kubectl_complete-mesh\n"]);
  const none = await install({}, [], "/");
  const hint = "name another folder on PATH with --dir";
  assert.deepEqual([none.code, none.stderr], [1, `error: Cannot write "${BESIDE}"; ${hint}\n`]);
});

Deno.test("install-kubectl --dir warns of a folder that kubectl does not look into", async () => {
  const { code, stdout, stderr } = await install({}, ["--dir", "/srv/"]);
  assert.deepEqual([code, stdout], [0, "/srv/kubectl_complete-mesh\n"]);
  assert.match(stderr, /^warning: The folder is not in PATH/);
  const known = await install({}, ["--dir=/usr/bin"]);
  assert.deepEqual([known.code, known.stderr], [0, ""]);
});

Deno.test("install-kubectl needs kubectl-mesh on PATH, or a folder", async () => {
  const { code, stderr } = await install({ files: {} });
  assert.equal(code, 1);
  assert.match(stderr, /^error: No folder in PATH contains kubectl-mesh.*--dir\n$/);
});

Deno.test("install-kubectl writes what Windows starts", async () => {
  const world = fakeWorld({
    args: ["completion", "install-kubectl"],
    env: { Path: "C:\\mesh\\;C:\\Windows" },
    files: { "C:\\mesh/kubectl-mesh.exe": "" },
  });
  assert.equal(await main({ ...world, machine: { ...world.machine, os: "windows" } }), 0);
  assert.equal(world.said.stdout, "C:\\mesh/kubectl_complete-mesh.cmd\n");
});
