/** What docs/checks.md says about a check, and the list of checks: both without a cluster. */
import { UsageError } from "../base/errors.ts";
import { closest, columns } from "../base/text/mod.ts";
import { ALL_CHECKS } from "./checks/all.ts";
import { type Choice, chooseChecks } from "./choose.ts";

/** The section of a check: meaning, example output, fix. Errors: a UsageError for an unknown id. */
export async function explanationOf(id: string): Promise<string> {
  const { CHECKS_DOCUMENT: document } = await import("./document.ts");
  const check = ALL_CHECKS.find((each) => each.id === id);
  const [, section] = document.split(`\n### ${id}\n`);
  if (check === undefined || section === undefined) throw unknownCheck(id);
  const [body = ""] = section.split(/^#{2,3} /m);
  return `${id} (${check.category}): ${check.title}\n\n${body.trim()}\n`;
}

function unknownCheck(id: string): UsageError {
  const meant = meantChecks(id).map((each) => `"${each}"`);
  return new UsageError(`There is no check "${id}"`, {
    hint: meant.length === 0 ? 'see "kubectl mesh check --list"' : `did you mean ${meant.join(", ")}?`,
  });
}

/** The check that is spelt nearly so, or the checks whose first word is. */
function meantChecks(id: string): readonly string[] {
  const ids = ALL_CHECKS.map((check) => check.id);
  const meant = closest(id, ids);
  if (meant !== undefined) return [meant];
  const firstWord = (text: string) => text.split("-")[0] ?? "";
  const word = closest(id, ids.map(firstWord));
  return word === undefined ? [] : ids.filter((each) => firstWord(each) === word);
}

/** All checks, in their order. */
export function checkNames(): { readonly id: string; readonly category: string; readonly title: string }[] {
  return ALL_CHECKS.map(({ id, category, title }) => ({ id, category, title }));
}

/** The selected checks: category, id and title, a line each. */
export function listText(choice: Choice): string {
  const { checks, shown } = chooseChecks(ALL_CHECKS, choice);
  const rows = [
    ["CATEGORY", "ID", "TITLE"],
    ...checks.filter(({ id }) => shown.has(id)).map(({ category, id, title }) => [category, id, title]),
  ];
  return columns(rows);
}
