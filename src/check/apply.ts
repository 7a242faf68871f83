/** Prints repairs and runs them after the user agrees (`check --fix`). */
import type { World } from "../platform/mod.ts";
import { linesOf, shellQuoted } from "../base/text/mod.ts";
import { tableWidthOf } from "../platform/terminal.ts";
import { block, printable } from "./print/lines.ts";
import type { CheckResult } from "./result_schema.ts";
import type { ShownAdvice } from "./advice/advice_schema.ts";

/** Advice whose commands can run without further input from the user. */
export interface Repair {
  readonly id: string;
  readonly title: string;
  readonly objects: readonly string[];
  readonly advice: ShownAdvice;
  /** Whether to ask even after "all" and with `--yes`, because the repair has a risk, deletes, or assumes a cause. */
  readonly isRisky: boolean;
}

/** Matches commands that delete an object. `replace --force` also deletes: a Job then runs again. */
const DELETES = /\bkubectl (delete|replace --force) /;

/** Matches commands with placeholders that the user must fill in, and commands that open an editor. */
const BY_HAND = /(^|[ =])(FILE|NAME)( |$)|^kubectl edit /;

/** Returns the first runnable advice of each fix. Skips failures that another failure causes. */
export function repairsIn(results: readonly CheckResult[]): readonly Repair[] {
  const all = results.filter(({ becauseOf }) => becauseOf === "").flatMap(({ id, title, fixes }) =>
    fixes.flatMap(({ objects, alternatives }): readonly Repair[] => {
      const index = alternatives.findIndex(({ scope, commands }) => {
        return scope !== "nothing" && commands.length > 0 && !commands.some((command) => BY_HAND.test(command));
      });
      const advice = alternatives[index];
      if (advice === undefined) return [];
      const isGuess = alternatives.slice(0, index).some(({ scope }) => scope === "nothing");
      return [{ id, title, objects, advice, isRisky: isGuess || advice.risk !== "none" || isDeleting(advice) }];
    })
  );
  const once = new Map<string, Repair>();
  for (const each of all) {
    const key = each.advice.commands.join("\n");
    if (once.get(key)?.isRisky !== true) once.set(key, each);
  }
  return [...once.values()];
}

function isDeleting({ commands }: ShownAdvice): boolean {
  return commands.some((command) => DELETES.test(command));
}

const RISKS: Readonly<Record<ShownAdvice["risk"], string>> = {
  none: "it helps only if the suspected cause is confirmed",
  loosens: "a policy then admits more",
  enrols: "pods of a namespace outside the mesh are then injected",
  "takes-out": "pods lose their proxy when they are recreated",
};

export interface Applying {
  /** Runs harmless repairs without asking. Risky repairs still ask at a terminal, and never run without a terminal. */
  readonly yes: boolean;
  /** kubectl flags that select the checked cluster. */
  readonly clusterFlags: readonly string[];
}

/** Prints each repair, asks the user, and runs it. Forbidden repairs come first. Returns how many repairs succeeded. */
export async function applied(world: World, all: readonly Repair[], applying: Applying): Promise<number> {
  const repairs = all.toSorted((a, b) => Number(isForbidden(b)) - Number(isForbidden(a)));
  const width = tableWidthOf({ stdout: world.stderr, env: world.env });
  const say = (text: string, indent = "") => world.stderr.write(`${block(text, indent, width).join("\n")}\n`);
  const isWanted = asker(world, applying.yes);
  let count = 0;
  for (const [index, repair] of repairs.entries()) {
    world.stderr.write("\n");
    say(`[${index + 1}/${repairs.length}] ${titleOf(repair)}`);
    if (repair.isRisky) say(`risk: ${riskOf(repair)}`, "  ");
    // A command is never broken, because people copy it.
    for (const command of repair.advice.commands) world.stderr.write(`    ${printable(command)}\n`);
    const objection = objectionTo(repair, applying, applying.yes && !world.stdin.isTerminal);
    if (objection !== undefined) {
      say(`not run: ${objection}`, "  ");
      continue;
    }
    const wanted = await isWanted(repair.isRisky);
    if (wanted === "quit") break;
    if (wanted === "yes" && await run(world, repair, applying.clusterFlags)) count++;
  }
  world.stderr.write("\n");
  say(`${count} of ${repairs.length} repairs succeeded${count === 0 ? "" : "; checking again"}`);
  return count;
}

function isForbidden({ advice: { forbidden } }: Repair): boolean {
  return forbidden.length > 0;
}

/** Programs that do not accept kubectl's flags. */
const WITHOUT_FLAGS = /^(helm|oc) /;

function objectionTo(
  { advice: { commands, forbidden }, isRisky }: Repair,
  { clusterFlags }: Applying,
  isAlone: boolean,
): string | undefined {
  if (forbidden.length > 0) return `you may not ${forbidden.join(", ")}: ask an administrator`;
  const other = commands.map((each) => WITHOUT_FLAGS.exec(each)?.[1]).find((each) => each !== undefined);
  if (other !== undefined && clusterFlags.length > 0) {
    return `${other} would change the cluster of the current context: run check --fix without ${
      clusterFlags.map((flag) => flag.replace(/=.*/s, "")).join(" ")
    }`;
  }
  return isRisky && isAlone ? "--yes does not run risky repairs; run check --fix at a terminal" : undefined;
}

const ANSWERS = ["yes", "no", "all", "quit"] as const;

/**
 * Returns a function that asks until the input is an answer or a prefix of one. The end of the input counts as "quit".
 * After "all", it asks only for risky repairs.
 */
function asker(world: World, yes: boolean): (isRisky: boolean) => Promise<"yes" | "no" | "quit"> {
  const lines = linesOf(world.stdin.chunks());
  let isAll = yes;
  return async (isRisky) => {
    while (isRisky || !isAll) {
      world.stderr.write("Run it? [y]es, [n]o, [a]ll harmless ones, [q]uit: ");
      const { value = "quit" } = await lines.next();
      const text = value.trim().toLowerCase();
      const found = ANSWERS.find((each) => text !== "" && each.startsWith(text));
      if (found === "all") isAll = true;
      else if (found !== undefined) return found;
    }
    return "yes";
  };
}

function titleOf({ id, objects: [first, ...more], advice }: Repair): string {
  const rest = more.length === 0 ? "" : ` and ${more.length} more`;
  const of = first === undefined ? "" : ` of ${first}${rest}`;
  return `${id}${of}: ${advice.change}`;
}

function riskOf({ advice }: Repair): string {
  return advice.risk === "none" && isDeleting(advice) ? "it deletes an object" : RISKS[advice.risk];
}

/** Runs the commands until one fails, and prints the failure. Returns whether all succeeded. */
async function run(world: World, { advice }: Repair, flags: readonly string[]): Promise<boolean> {
  for (const command of advice.commands) {
    const script = `set -e\n${kubectlWith(flags)}\n${command}`;
    const { code, stdout, stderr } = await world.processes.run({ command: "sh", args: ["-c", script] });
    for (const line of `${stdout}${stderr}`.split("\n")) if (line !== "") world.stderr.write(`  ${printable(line)}\n`);
    if (code === 0) continue;
    world.stderr.write(`  error: the command exited with ${code}\n`);
    return false;
  }
  return true;
}

/**
 * Returns a shell function that adds the flags to kubectl. Adds none to `kubectl mesh`, because kubectl accepts no flags
 * before a plugin's name, and the commands of advice use `mesh` only to print manifests.
 */
function kubectlWith(flags: readonly string[]): string {
  const words = flags.map(shellQuoted).join(" ");
  return `kubectl() { if [ "$1" = mesh ]; then command kubectl "$@"; else command kubectl ${words} "$@"; fi; }`;
}
