/** Prints the section of docs/checks.md about a check, the title of a rule, and the list of checks. Needs no cluster. */
import { UsageError } from "../base/errors.ts";
import { closest, columnsBeforeText, columnsWithin, editDistance, wrappedAround } from "../base/text/mod.ts";
import { RULES } from "../inject/mod.ts";
import { ALL_CHECKS } from "./checks/all.ts";
import { type Choice, chooseChecks } from "./choose.ts";
import { block } from "./print/lines.ts";

/**
 * Returns the section about a check, as text of that width: meaning, example output, and fix. For the id of a rule,
 * returns its title and severity. Throws a UsageError for an unknown id.
 */
export async function explanationOf(id: string, width: number): Promise<string> {
  const { CHECKS_DOCUMENT: document } = await import("./document.ts");
  const check = ALL_CHECKS.find((each) => each.id === id);
  const rule = RULES.find((each) => each.id === id);
  if (check === undefined && rule !== undefined) return ruleText(rule, width);
  const [, section] = document.split(`\n### ${id}\n`);
  if (check === undefined || section === undefined) throw unknownCheck(id);
  const [body = ""] = section.split(/^#{2,3} /m);
  const title = wrappedAround(`${id} (${check.category}): ${check.title}`, width).join("\n");
  return `${title}\n\n${plainText(body.trim(), width)}\n`;
}

/** Returns the title and severity of a rule. Omits the fix, because it depends on the manifest. */
function ruleText({ id, severity, title, istio }: typeof RULES[number], width: number): string {
  const code = istio === undefined ? "" : ` (${istio} of "istioctl analyze")`;
  const paragraphs = [
    `${id} (rule of inject, ${severity}): ${title}${code}`,
    `Each warning of "kubectl mesh inject" names the field and the fix. To turn the rule off: --ignore-rules ${id}, or ` +
    `the annotation "off.kubectl-mesh/${id}: REASON". See docs/inject.md#rules`,
  ];
  return `${paragraphs.map((each) => wrappedAround(each, width).join("\n")).join("\n\n")}\n`;
}

/** Formats Markdown as text. */
function plainText(markdown: string, width: number): string {
  const parts = markdown.split(/^```.*\n/m).map((part, index) =>
    index % 2 === 1 ? example(part.trimEnd(), width) : prose(part, width)
  );
  return parts.filter((part) => part !== "").join("\n\n");
}

/** Wraps the lines of an example, except commands, which users copy. */
function example(text: string, width: number): string {
  return text.split("\n").flatMap((line) => {
    const [indent = ""] = /^ */.exec(line) ?? [];
    return line.includes("kubectl ") ? [line] : block(line.trim(), indent, width);
  }).join("\n");
}

const PRE = '"kubectl mesh check --pre" runs this check too.';

/** Returns prose without markup. In docs/checks.md, a link to a section names a check. */
function withoutMarkup(markdown: string): string {
  return markdown
    .replace(/_\(pre\)_/g, PRE)
    .replace(/`([^`]*)`/g, (_, code: string) => code.includes('"') ? code : `"${code}"`)
    .replace(/\[([^[\]]*)\]\(#[^()]*\)/g, '"$1"')
    .replace(/\[[^[\]]*\]\(([^()]*)\)/g, "docs/$1");
}

function prose(markdown: string, width: number): string {
  const paragraphs = withoutMarkup(markdown.trim()).split(/\n\n+/);
  return paragraphs.map((each) => {
    if (each.startsWith("| ")) return table(each, width);
    return each.replace(/\n(?!- )/g, " ").split("\n").flatMap((line) => wrappedAround(line, width)).join("\n");
  }).join("\n\n");
}

function table(markdown: string, width: number): string {
  const [head = [], , ...rows] = markdown.split("\n").map((line) => line.slice(2, -2).split(" | "));
  return columnsWithin([head.map((cell) => cell.toUpperCase()), ...rows], width).trimEnd();
}

function unknownCheck(id: string): UsageError {
  const meant = meantChecks(id).map((each) => `"${each}"`);
  const list = '"kubectl mesh check --list"';
  return new UsageError(`There is no check "${id}"`, {
    hint: meant.length === 0
      ? `see ${list}`
      : `did you mean ${meant.join(" or ")}?${meant.length > 1 ? ` ${list} prints all ids` : ""}`,
  });
}

const MEANT = 3;

/** Returns the check or rule with the most similar id, or else the checks with a similar first word, the nearest first. */
function meantChecks(id: string): readonly string[] {
  const ids = ALL_CHECKS.map((check) => check.id);
  const meant = closest(id, [...ids, ...RULES.map((rule) => rule.id)]);
  if (meant !== undefined) return [meant];
  const firstWord = (text: string) => text.split("-")[0] ?? "";
  const word = closest(id, ids.map(firstWord));
  const begun = ids.filter((each) => firstWord(each) === word);
  return begun.toSorted((a, b) => editDistance(id, a) - editDistance(id, b)).slice(0, MEANT);
}

/** Returns all checks in the order of the output. */
export function checkNames(): { readonly id: string; readonly category: string; readonly title: string }[] {
  return ALL_CHECKS.map(({ id, category, title }) => ({ id, category, title }));
}

/** Lists the selected checks, with titles wrapped at `width` columns. */
export function listText(choice: Choice, width: number): string {
  const { checks, shown } = chooseChecks(ALL_CHECKS, choice);
  const rows = checks.filter(({ id }) => shown.has(id)).map(({ category, id, title }) => [category, id, title]);
  return columnsBeforeText([["CATEGORY", "ID", "TITLE"], ...rows], width);
}
