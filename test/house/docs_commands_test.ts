/** Commands in the documentation exist: subcommands, flags, the values of flags, tasks and files of the checkout. */
import assert from "node:assert/strict";
import { Marked } from "marked";
import config from "../../deno.json" with { type: "json" };
import { PLUGIN } from "../../src/cli/commands/plugin.ts";
import { foundRoot, subcommandOf } from "../../src/cli/dispatch.ts";
import { messageOf } from "../../src/base/errors.ts";
import { readConnection } from "../../src/explain/question/read_connection.ts";
import {
  type FlagGroups,
  type FlagTable,
  parseFlags,
  problemsTogether,
  spellingsOf,
} from "../../src/golang/flags/mod.ts";
import { allCommands } from "../../tools/docs/commands.ts";
import { shellWords, shownCommands } from "../support/shown_commands.ts";
import { exists, filesBelow, read } from "./source.ts";

const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  ...filesBelow("docs").filter((path) => /^docs\/[^/]*\.md$/.test(path)),
];

/** What stands in a page as code. */
interface Code {
  readonly text: string;
  readonly isBlock: boolean;
}

function codeOf(page: string): Code[] {
  const marked = new Marked();
  const all: Code[] = [];
  marked.walkTokens(marked.lexer(page), (token) => {
    if (token.type === "code") all.push({ text: token.text, isBlock: true });
    if (token.type === "codespan") all.push({ text: token.text, isBlock: false });
  });
  return all;
}

/** Whether only a part of a command is shown, such as `check --pre` between words. */
function isPart({ text, isBlock }: Code): boolean {
  return !isBlock && Object.hasOwn(PLUGIN.commands, text.split(" ")[0] ?? "") && text.includes(" -");
}

/** What is wrong with a command. A word in capitals stands for any command. */
async function problemsOf(args: readonly string[]): Promise<string[]> {
  if (/^[A-Z]+$/.test(args[0] ?? "")) return [];
  let found = foundRoot(PLUGIN, args);
  for (let next: typeof found | undefined = found; next !== undefined; next = await subcommandOf(found)) found = next;
  const { command, args: rest, program } = found;
  if (command.start === undefined) {
    const isHelp = rest.every((word) => /^(-h|--help|\.\.\.)$/.test(word));
    return isHelp ? [] : [`"${program}" has no subcommand "${rest.join(" ")}"`];
  }
  const table = tableOf(await command.flags());
  const line = parseFlags(table, rest);
  const messages = [...line.problems, ...problemsTogether(table, line)].map(({ message }) => message);
  const to = [...line.given].find(([key]) => table[key]?.name === "to")?.[1].texts.at(-1);
  if (args[0] === "explain" && to !== undefined && !/[A-Z]/.test(to)) messages.push(...destinationProblems(to));
  // A value in capitals, such as NAMESPACE, stands for any value.
  return messages.filter((message) => !/cannot be "[A-Z]+"$/.test(message));
}

/** What is wrong with the value of `explain --to`. */
function destinationProblems(to: string): string[] {
  try {
    readConnection({ to, from: undefined, toPort: undefined, method: undefined, header: [], sni: undefined });
    return [];
  } catch (error) {
    return [messageOf(error)];
  }
}

/** All flags of a command; a variable may have the key of a flag in another group. */
function tableOf(groups: FlagGroups): FlagTable {
  return Object.fromEntries(
    Object.entries(groups).flatMap(([title, flags]) =>
      Object.entries(flags).map(([key, flag]) => [`${title} ${key}`, flag])
    ),
  );
}

/** Tasks and files of the checkout that a block of commands names and that do not exist. */
function absentIn(block: string): string[] {
  const tasks = [...block.matchAll(/tools\/deno task ([\w:]+)/g)].map(([, name = ""]) => name);
  const paths = [...block.matchAll(/(?<=^|[\s=])(?:examples|bench|plugin|tools|test|completions)\/[\w./-]*\w/gm)].map((
    [path],
  ) => path);
  return [
    ...tasks.filter((name) => !Object.hasOwn(config.tasks, name)).map((name) => `there is no task "${name}"`),
    ...paths.filter((path) => !exists(path)).map((path) => `there is no file "${path}"`),
  ];
}

/** Flags of other programs that the pages name alone. */
const OTHERS = [
  "--debug-port", // pilot-agent request
  "--config-yaml", // Envoy
  "--restart-epoch",
  "--parent-shutdown-time-s",
  "--disable-admission-plugins", // kube-apiserver
  "--force-conflicts", // kubectl
  "--enable-aggregator-routing",
  "--runtime-config",
  "--post-renderer", // helm
  "--post-renderer-args",
  "--manual", // linkerd
  "--ignore-cluster",
  "--envoy", // tools
  "--complete",
  "--with",
  "--base",
  "--serve",
  ...["--heap-growing-percent", "--jitless", "--no-jitless", "--lite-mode", "--optimize-for-size", "--single-threaded"], // V8
  "--min-semi-space-size",
  "--max-semi-space-size",
  "--after", // benchmarks
  "--reviews",
  "--flag", // any
  "--help",
];

const KNOWN = new Set([
  ...(await allCommands()).flatMap(({ groups }) => [...spellingsOf(tableOf(groups)).keys()]),
  ...OTHERS,
]);

for (const path of PAGES) {
  Deno.test(`${path} names no command, flag, task or file that does not exist`, async () => {
    const problems: string[] = [];
    for (const code of codeOf(read(path))) {
      const part = isPart(code);
      for (const args of part ? [shellWords(code.text)] : shownCommands(code.text)) {
        const found = (await problemsOf(args)).filter((message) => !part || message.startsWith("Unknown flag"));
        problems.push(...found.map((message) => `kubectl mesh ${args.join(" ")}: ${message}`));
      }
      if (code.isBlock) problems.push(...absentIn(code.text));
      // The page of measurements names flags of the runtime that it tried.
      const [flag] = code.isBlock || path === "docs/performance.md" ? [] : /^--[a-z][\w-]*/.exec(code.text) ?? [];
      if (flag !== undefined && !KNOWN.has(flag)) problems.push(`no command has the flag ${flag}`);
    }
    assert.deepEqual(problems, []);
  });
}

Deno.test("pipes into kubectl apply: a failing inject ends them, and no webhook takes the place of a live one unasked", () => {
  const codes = PAGES.map(read).flatMap(codeOf).map(({ text }) => text);
  const into = (command: string) => codes.filter((text) => new RegExp(`mesh ${command}.*\\| kubectl apply`).test(text));
  const [injects, manifests] = [into("inject"), into("webhook manifests")];
  assert(injects.length > 1 && manifests.length > 1);
  assert.deepEqual(injects.filter((text) => !text.includes("set -o pipefail")), []);
  assert.deepEqual(manifests.filter((text) => !/--revision|--take-over/.test(text)), []);
});
