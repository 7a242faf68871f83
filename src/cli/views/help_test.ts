import assert from "node:assert/strict";
import { allCommands } from "../../../tools/docs/commands.ts";
import { CATEGORIES as CHECKED } from "../../check/check.ts";
import { type Completes, flagTable } from "../../golang/flags/mod.ts";
import { CATEGORIES } from "../commands/check/check.ts";
import { PLUGIN } from "../commands/plugin.ts";
import { helpText } from "./help.ts";
import { flagTitle, shownFlags } from "./text.ts";

const PILOT_AGENT = await PLUGIN.hiddenCommands["pilot-agent"]?.() ?? PLUGIN;
const COMMANDS = [...await allCommands(), ...await allCommands(PILOT_AGENT, "pilot-agent")];

/** What completion offers for a value of this name. */
const COMPLETES: Readonly<Record<string, Completes>> = {
  NAMESPACE: "namespaces",
  NAMESPACES: "namespaces",
  REVISION: "revisions",
  FOLDER: "folders",
};

for (const { name, program, command, groups } of COMMANDS) {
  const flags = Object.values(flagTable(groups));

  Deno.test(`the help of "${name}" fits 80 columns and names each shown flag once`, async () => {
    const text = await helpText(command, program);
    const lines = text.split("\n");
    assert.deepEqual(lines.filter((line) => line.length > 80 || line !== line.trimEnd()), []);
    for (const flag of shownFlags(flagTable(groups))) {
      assert.equal(
        lines.filter((line) => /^(?: {2}| {6})(\S.*?)(?: {2}|$)/.exec(line)?.[1] === flagTitle(flag)).length,
        1,
        flagTitle(flag),
      );
    }
    assert.doesNotMatch(text.replaceAll(/\s+/g, " "), /\) \((comma|default|env)|default default/);
    for (const { name } of flags.filter((flag) => flag.hidden || flag.retired !== undefined)) {
      assert.ok(name === undefined || !text.includes(` --${name} `), name);
    }
  });

  Deno.test(`the help of "${name}" fits terminals of 60, 80 and 120 columns`, async () => {
    for (const columns of [60, 80, 120]) {
      const lines = (await helpText(command, program, columns)).split("\n");
      assert.deepEqual(lines.filter((line) => line.length > columns || line !== line.trimEnd()), []);
    }
  });

  Deno.test(`the record of "${name}" is complete`, () => {
    assert.ok(command.summary.length <= 72, command.summary);
    assert.match(command.summary, /^[A-Z].*[^.]$/);
    const names = flags.flatMap(({ name: long, short }) => [long, short].filter((each) => each !== undefined));
    assert.deepEqual(names.filter((each, index) => names.indexOf(each) !== index), [], "each name is there once");
    for (const flag of flags) {
      assert.match(flag.doc, /^[\p{Lu}\d./$].*[^.]$/u, flagTitle(flag));
      assert.ok(flag.name !== undefined || flag.env !== undefined);
      const completes = program.startsWith("kubectl mesh") ? COMPLETES[flag.value ?? ""] : undefined;
      assert.equal(completes === undefined || flag.completes === completes, true, flagTitle(flag));
    }
    for (const { command: line } of command.examples ?? []) {
      assert.match(
        line,
        /^(?:CNI_COMMAND=VERSION )?(kubectl mesh|kubectl get|pilot-agent|helm|curl|kubectl-mesh (?:completion|wait)|eval "|kustomize build|apiVersion:) ?/,
      );
    }
  });
}

Deno.test("the help of check lists the categories of the checks", () => {
  assert.deepEqual([...CATEGORIES], [...CHECKED]);
});

Deno.test("help follows the width of the terminal, from 60 to 120 columns", async () => {
  const [{ command, program } = assert.fail()] = COMMANDS.filter(({ name }) => name === "inject");
  const longest = async (columns: number) =>
    Math.max(...(await helpText(command, program, columns)).split("\n").map((line) => line.length));
  const [least, narrow, wide, most] = await Promise.all([longest(20), longest(60), longest(120), longest(500)]);
  assert.equal(least, narrow);
  assert.ok(wide > 100 && wide <= 120 && most === wide, `${narrow} ${wide} ${most}`);
});

Deno.test("the commands of examples stay whole when a narrow terminal breaks them", async () => {
  for (const { name, program, command } of COMMANDS) {
    const text = await helpText(command, program, 60);
    const whole = text.replaceAll(/ \\\n +/g, " ").replaceAll(/ \|\n {4}(?=\S)/g, " | ");
    for (const { command: example } of command.examples ?? []) {
      for (const line of example.replaceAll(/ \\\n +/g, " ").split("\n")) {
        assert.ok(whole.includes(`  ${line}\n`), `${name}: ${line}`);
      }
    }
  }
});
