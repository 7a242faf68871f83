import { UsageError } from "../base/errors.ts";
import { closest } from "../base/text/mod.ts";
import { CATEGORIES, type Check } from "./check.ts";

/** The user's selection of checks. An empty `only` selects all checks, and an empty `skip` excludes none. */
export interface Choice {
  readonly categories: readonly string[];
  readonly only: readonly string[];
  readonly skip: readonly string[];
  /** Selects only checks that also run before the mesh is installed. */
  readonly pre: boolean;
}

/** The checks to run, and the ids of the checks to report. */
export interface Chosen {
  /** The selected checks, and the checks that these need. */
  readonly checks: readonly Check[];
  readonly shown: ReadonlySet<string>;
}

/** Id of the check that all other checks need. */
export const FIRST = "api-reachable";

/** Returns the ids of the checks that must pass first. */
export function needsOf({ id, needs }: Check): readonly string[] {
  return id === FIRST ? needs : [FIRST, ...needs];
}

/** Returns the checks to run and to report. Throws a UsageError for unknown names, and if no check is selected. */
export function chooseChecks(all: readonly Check[], choice: Choice): Chosen {
  refuseUnknown(choice.categories, CATEGORIES, "category", all);
  const names = [...CATEGORIES, ...all.map(({ id }) => id)];
  for (const list of [choice.only, choice.skip]) refuseUnknown(list, names, "check or category");
  const isNamed = ({ id, category }: Check, list: readonly string[]) => list.includes(id) || list.includes(category);
  const left = all.filter((check) => !isNamed(check, choice.skip));
  const wanted = left.filter((check) =>
    (!choice.pre || check.pre === true) &&
    (choice.categories.length === 0 || choice.categories.includes(check.category)) &&
    (choice.only.length === 0 || isNamed(check, choice.only))
  );
  if (wanted.length === 0) throw new UsageError("No check is selected", { hint: "see --only, --skip and --pre" });
  return { checks: withNeeds(wanted, left), shown: new Set(wanted.map(({ id }) => id)) };
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

/** Start of the hint for an unknown word. It names a command, because the ids of all checks do not fit on a line. */
const IDS = { "category": "", "check or category": '"kubectl mesh check --list" prints the ids, ' } as const;

function refuseUnknown(
  names: readonly string[],
  known: readonly string[],
  what: keyof typeof IDS,
  checks: readonly Check[] = [],
): void {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown === undefined) return;
  const meant = closest(unknown, known);
  const isCheck = checks.some(({ id }) => id === unknown);
  throw new UsageError(`There is no ${what} "${unknown}"`, {
    hint: injectionHint(unknown, what) ??
      (isCheck ? `"${unknown}" is a check, so use "--only ${unknown}"` : undefined) ??
      (meant === undefined ? undefined : `did you mean "${meant}"?`) ??
      `${IDS[what]}categories are ${CATEGORIES.join(", ")}`,
  });
}

/** Suggests `check injection` for a workload (`deployment/web`), and for a word similar to `injection`. */
function injectionHint(word: string, what: keyof typeof IDS): string | undefined {
  const command = "kubectl mesh check injection";
  if (what !== "category") return undefined;
  if (word.includes("/")) return `for one workload use "${command} ${word}"`;
  return closest(word, ["injection", "inject"]) === undefined ? undefined : `did you mean "${command}"?`;
}
