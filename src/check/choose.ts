import { UsageError } from "../core/errors.ts";
import { closest } from "../core/closest.ts";
import { CATEGORIES, type Check } from "./check.ts";

/** What the user wants checked; empty lists mean all and none. */
export interface Choice {
  /** Categories. */
  readonly categories: readonly string[];
  /** Ids or categories. */
  readonly only: readonly string[];
  /** Ids or categories. */
  readonly skip: readonly string[];
  /** What is meant for a cluster before the mesh is in it. */
  readonly pre: boolean;
}

/** What is run, and what of it is told. */
export interface Chosen {
  /** With what the chosen ones need. */
  readonly checks: readonly Check[];
  readonly told: ReadonlySet<string>;
}

/** Without it nothing can be checked: every other check needs it. */
export const FIRST = "api-reachable";

/** What has to be ok before a check can say anything. */
export function needsOf({ id, needs }: Check): readonly string[] {
  return id === FIRST ? needs : [FIRST, ...needs];
}

/** The checks that are wanted. Errors: a UsageError for a word that is neither an id nor a category, or if none is left. */
export function chooseChecks(all: readonly Check[], choice: Choice): Chosen {
  refuseUnknown(choice.categories, CATEGORIES, "category");
  const words = [...CATEGORIES, ...all.map(({ id }) => id)];
  for (const list of [choice.only, choice.skip]) refuseUnknown(list, words, "check or category");
  const isNamed = ({ id, category }: Check, list: readonly string[]) => list.includes(id) || list.includes(category);
  const left = all.filter((check) => !isNamed(check, choice.skip));
  const wanted = left.filter((check) =>
    (!choice.pre || check.pre === true) &&
    (choice.categories.length === 0 || choice.categories.includes(check.category)) &&
    (choice.only.length === 0 || isNamed(check, choice.only))
  );
  if (wanted.length === 0) throw new UsageError("No check is selected", { hint: "see --only, --skip and --pre" });
  return { checks: withNeeds(wanted, left), told: new Set(wanted.map(({ id }) => id)) };
}

function withNeeds(wanted: readonly Check[], left: readonly Check[]): readonly Check[] {
  const ids = new Set<string>();
  const add = (check: Check) => {
    if (ids.has(check.id)) return;
    ids.add(check.id);
    left.filter(({ id }) => needsOf(check).includes(id)).forEach(add);
  };
  wanted.forEach(add);
  return left.filter(({ id }) => ids.has(id));
}

/** Where the words are that are too many for a line. */
const IDS = { "category": "", "check or category": "ids are in docs/checks.md, " } as const;

function refuseUnknown(words: readonly string[], known: readonly string[], what: keyof typeof IDS): void {
  const unknown = words.find((word) => !known.includes(word));
  if (unknown === undefined) return;
  throw new UsageError(`There is no ${what} "${unknown}"`, {
    hint: injectionHint(unknown, what) ?? closestHint(unknown, known) ??
      `${IDS[what]}categories are ${CATEGORIES.join(", ")}`,
  });
}

function closestHint(word: string, known: readonly string[]): string | undefined {
  const meant = closest(word, known);
  return meant === undefined ? undefined : `did you mean "${meant}"?`;
}

/** Whoever names a workload, or nearly the other command, asks about injection. */
function injectionHint(word: string, what: keyof typeof IDS): string | undefined {
  const command = "kubectl mesh check injection";
  if (what !== "category") return undefined;
  if (word.includes("/")) return `for one workload use "${command} ${word}"`;
  return closest(word, ["injection", "inject"]) === undefined ? undefined : `did you mean "${command}"?`;
}
