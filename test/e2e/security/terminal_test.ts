/** Names, messages and excerpts from outside do not act on a terminal, on standard output or standard error. */
import assert from "node:assert/strict";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { testWhen } from "../../support/test_when.ts";
import { acting, inPipes, needsTerminal, onTerminal } from "./support/terminal.ts";

/** Sets the title, clears the screen, hides text, reverses its direction. */
const HOSTILE = "\\u001b]0;t\\u0007\\u001b[2J\\u001b[8m\\u202e\\r";
const RAW = "\u001b]0;t\u0007\u001b[2J\u001b[8m\u202e";

const FILES: Readonly<Record<string, string>> = {
  "name.yaml":
    `apiVersion: v1\nkind: Pod\nmetadata: {name: "a${HOSTILE}"}\nspec: {containers: [{name: a, image: "${HOSTILE}"}]}\n`,
  "broken.yaml": `a: b\n  c: "${RAW}"\n - d\n`,
  "job.yaml": `apiVersion: batch/v1\nkind: "Job${HOSTILE}"\nmetadata: {name: "a${HOSTILE}"}\n`,
};

const COMMANDS: readonly (readonly string[])[] = [
  ["inject", "-f", "name.yaml"],
  ["inject", "-f", "name.yaml", "--diff"],
  ["inject", "-f", "name.yaml", "--patch"],
  ["uninject", "-f", "name.yaml"],
  ["inject", "-f", "broken.yaml"],
  ["inject", "-f", "job.yaml"],
  ["inject", "-f", `a${RAW}.yaml`],
  ["check", "injection", "-f", "name.yaml"],
  ["check", "--kubeconfig", `a${RAW}`],
  ["version", "--kubeconfig", `a${RAW}`],
  ["explain", "-f", `a${RAW}`],
  ["iptables", "generate", "-p", `a${RAW}`],
  ["webhook", "manifests", "--revision", `a${RAW}`],
  [`a${RAW}`],
  ["inject", `--a${RAW}`],
];

testWhen(needsTerminal, "security: no text from outside acts on a terminal", async () => {
  await using folder = await temporaryFolder();
  for (const [name, text] of Object.entries(FILES)) await Deno.writeTextFile(`${folder.path}/${name}`, text);
  for (const args of COMMANDS) {
    const shown = await onTerminal(args, { cwd: folder.path });
    // The visible rest of the text shows that the command has printed it.
    assert.match(shown, /\]0;t/, `${args.join(" ")}: ${shown}`);
    assert.deepEqual(acting(shown), [], args.join(" "));
  }
});

/** Text that begins a line of a report, and a command of GitHub Actions. */
const FORGED = "x injected\\nFORGED\\n::error::FORGED";

const FORGING: Readonly<Record<string, string>> = {
  "pod.yaml":
    `apiVersion: v1\nkind: Pod\nmetadata: {name: "${FORGED}", namespace: "${FORGED}"}\nspec: {hostNetwork: true, containers: [{name: a, image: b}]}\n`,
  "kind.yaml":
    `apiVersion: apps/v1\nkind: "::error::FORGED${FORGED}"\nmetadata: {name: a}\nspec: {template: {spec: {containers: [{name: a, image: b}]}}}\n`,
  "container.yaml":
    `apiVersion: v1\nkind: Pod\nmetadata: {name: a}\nspec: {containers: [{name: "${FORGED}", image: auto, ports: [{containerPort: 15001}]}]}\n`,
};

Deno.test("security: no text from outside acts on the log of a CI system, or adds a line to a report", async () => {
  await using folder = await temporaryFolder();
  const files = { ...FILES, ...FORGING };
  for (const [name, text] of Object.entries(files)) await Deno.writeTextFile(`${folder.path}/${name}`, text);
  const runs = [
    ...COMMANDS.map((args) => ({ args, isData: ["inject", "uninject", "webhook"].includes(args[0] ?? "") })),
    ...Object.keys(FORGING).flatMap((name) => [
      ...[[], ["--report", "changed"]].map((more) => ({ args: ["inject", "-f", name, ...more], isData: true })),
      { args: ["uninject", "-f", name], isData: true },
      { args: ["check", "injection", "-f", name], isData: false },
      { args: ["check", "injection", "-f", name, "-o", "wide"], isData: false },
      { args: ["config", "diff", "empty.yaml", "empty.yaml", "-f", name], isData: true },
    ]),
  ];
  await Deno.writeTextFile(`${folder.path}/empty.yaml`, "policy: enabled\ntemplates: {}\n");
  for (const { args, isData } of runs) {
    const { stdout, stderr } = await inPipes(args, { cwd: folder.path });
    const shown = isData ? stderr : stdout + stderr;
    assert.doesNotMatch(shown, /^\s*(::error::)?FORGED/im, args.join(" "));
    assert.deepEqual([...acting(shown), ...shown.includes("\u001b") ? ["an escape"] : []], [], args.join(" "));
  }
});
