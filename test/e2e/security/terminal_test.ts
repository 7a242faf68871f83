/** Names, messages and excerpts from outside do not act on a terminal, on standard output or standard error. */
import assert from "node:assert/strict";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { testWhen } from "../../support/test_when.ts";
import { acting, needsTerminal, onTerminal } from "./support/terminal.ts";

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
