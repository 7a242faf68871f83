/** A compiled program starts in every environment: a sidecar that does not start stops its pod. */
import assert from "node:assert/strict";
import { MESH_BINARY } from "../../support/programs/mesh.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { testWhen } from "../../support/test_when.ts";

const ROOT = decodeURIComponent(new URL("../../..", import.meta.url).pathname).replace(/\/$/, "");
const BINARY = MESH_BINARY ?? "";
const missing = MESH_BINARY === undefined || Deno.build.os !== "linux"
  ? "only the compiled program on Linux reads these before main: MESH_BINARY"
  : undefined;

/** A command of each kind, with what it prints and its exit code. */
const COMMANDS = [
  { args: ["version", "--client"], code: 0, says: /^kubectl-mesh / },
  { args: ["inject", "-f", "examples/helloworld.yaml"], code: 0, says: /name: istio-proxy/ },
  { args: ["iptables", "generate"], code: 0, says: /-N ISTIO_OUTPUT/ },
  { args: ["agent", "bootstrap"], code: 0, says: /"node": \{/ },
  { args: ["wait", "--url", "http://127.0.0.1:1/", "--timeoutSeconds", "1"], code: 1, says: /was not ready within 1s/ },
] as const;

const POD = { INSTANCE_IP: "127.0.0.1", POD_NAME: "pod", POD_NAMESPACE: "default", KUBECONFIG: "/nonexistent" };

interface Outcome {
  readonly code: number;
  readonly text: string;
}

/** Runs a line of sh, in which `"$@"` is the program with its arguments. */
async function shell(line: string, args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> {
  const { code, stdout, stderr } = await new Deno.Command("sh", {
    args: ["-c", line, "sh", BINARY, ...args],
    cwd: ROOT,
    env: { ...POD, ...env },
    stdin: "null",
  }).output();
  return { code, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

const FOLDERS: Readonly<Record<string, string>> = {
  "empty": "''",
  "relative": "some/folder",
  "a folder that is not there": "/nonexistent",
  "a file": "/etc/passwd",
  "without permission": "/proc/1",
  "not UTF-8": `"$(printf '/\\377')"`,
  "very long": `"/$(printf '%05000d' 0)"`,
};

for (const [what, value] of Object.entries(FOLDERS)) {
  testWhen(missing, `every kind of command starts where TMPDIR is ${what}`, async () => {
    for (const { args, code, says } of COMMANDS) {
      const outcome = await shell(`TMPDIR=${value} exec "$@"`, args);
      assert.equal(outcome.code, code, outcome.text);
      assert.match(outcome.text, says);
    }
  });
}

testWhen(
  missing,
  "every kind of command starts with 32 file descriptors, and with fewer none claims a success that it did not have",
  async () => {
    for (const { args, code, says } of COMMANDS) {
      const outcome = await shell('ulimit -n 32; exec "$@"', args);
      assert.equal(outcome.code, code, outcome.text);
      assert.match(outcome.text, says);
      for (const limit of [3, 6, 9, 12, 13, 14, 15, 16, 18]) {
        const few = await shell(`ulimit -n ${limit}; exec "$@"`, args);
        if (few.code === 0) assert.match(few.text, says, `${limit}: ${args}`);
      }
    }
  },
);

const BROKEN = `"$(printf '\\377')"`;
const STARTS: Readonly<Record<string, string>> = {
  "no HOME": 'unset HOME; exec "$@"',
  "an empty HOME": 'HOME= exec "$@"',
  "variables that are not UTF-8":
    `HOME=${BROKEN} DENO_DIR=${BROKEN} LANG=${BROKEN} LC_ALL=${BROKEN} ANY=${BROKEN} exec "$@"`,
  "an empty DENO_DIR": 'DENO_DIR= exec "$@"',
  "variables of the runtime": 'DENO_V8_FLAGS=--bogus NODE_OPTIONS=--bogus DENO_CERT=/nonexistent exec "$@"',
  "no standard input": 'exec "$@" <&-',
  "no standard error": 'exec "$@" 2>&-',
};

for (const [what, line] of Object.entries(STARTS)) {
  testWhen(missing, `the program starts with ${what}`, async () => {
    const outcome = await shell(line, ["version", "--client"]);
    assert.equal(outcome.code, 0, outcome.text);
    assert.match(outcome.text, /^kubectl-mesh /);
  });
}

testWhen(missing, "the error names a variable of the program that is not UTF-8", async () => {
  await using folder = await temporaryFolder();
  const outcome = await shell(`KUBECONFIG=${BROKEN} exec "$@"`, ["check"], { TMPDIR: folder.path });
  assert.equal(outcome.code, 1, outcome.text);
  assert.match(
    outcome.text,
    /^error: The value of the environment variable "KUBECONFIG" is not UTF-8; unset the variable/m,
  );
});
