/** The declaration of a flag, and the type of its value. */

/**
 * How the text of a flag is read, and what it becomes.
 *
 * | type                        | value                                                   |
 * |-----------------------------|---------------------------------------------------------|
 * | text, file, address         | the text; its reader checks it                          |
 * | url                         | a URL of HTTP                                           |
 * | choice                      | one of `allowed`                                        |
 * | boolean                     | a value only behind `=`, in Go's spellings              |
 * | integer, port               | a whole number from `least` to `most`                   |
 * | duration                    | milliseconds of Go's `1m30s`, from `least` to `most`    |
 * | ratio                       | a number from 0 to 1                                    |
 * | list, files                 | texts: comma lists, repeatable                          |
 * | urls                        | URLs: repeatable                                        |
 * | texts                       | texts: repeatable, commas are part of a text            |
 */
export type FlagType =
  | "text"
  | "file"
  | "address"
  | "url"
  | "choice"
  | "boolean"
  | "integer"
  | "port"
  | "duration"
  | "ratio"
  | "list"
  | "files"
  | "urls"
  | "texts";

/**
 * What a value names, for completion: objects of a kubeconfig, of a cluster, of this program; `configurations` are
 * files and `rev:NAME`, `folders` and `manifests` names of files.
 */
export type Completes =
  | "contexts"
  | "clusters"
  | "users"
  | "namespaces"
  | "pods"
  | "workloads"
  | "revisions"
  | "configurations"
  | "config-maps"
  | "webhooks"
  | "checks"
  | "checks and categories"
  | "rules"
  | "folders"
  | "manifests";

/** A flag, or a setting that has an environment variable only. */
export interface Flag {
  /** Without dashes. A setting without a name has a variable only. */
  readonly name?: string;
  readonly short?: string;
  /** Environment variables that replace a flag that is not given; the first that is set wins. The settings read them. */
  readonly env?: readonly string[];
  readonly type: FlagType;
  /** The value, as text, if none is given. */
  readonly default?: string;
  /** The default in the help, if it is not a fixed text. */
  readonly defaultDoc?: string;
  /** The value if the flag stands alone. Any other value needs a `=`, as for a boolean. */
  readonly implied?: string;
  /** All values of a `choice`; of other types, values worth offering. */
  readonly allowed?: readonly string[];
  /** Where completion finds values beside `allowed`. */
  readonly completes?: Completes;
  readonly least?: number;
  readonly most?: number;
  /** Milliseconds of a number without a unit; without it, a duration must have a unit. */
  readonly unit?: number;
  /** What help calls the value, such as `FILE`. */
  readonly value?: string;
  /** One or more clauses, lower case, without a final period. */
  readonly doc: string;
  /** This flag needs one of these flags. Alone it has no effect, which is an error. */
  readonly needs?: readonly string[];
  /** An argument that it requires, such as `rev:NAME`; any argument with the same prefix up to the colon will do. */
  readonly needsArgument?: string;
  /** Names of flags that cannot be given beside it. */
  readonly excludes?: readonly string[];
  /** Other spellings, with their dashes: accepted, not in the help. */
  readonly old?: readonly string[];
  /** Accepted, not in the help. */
  readonly hidden?: true;
  /** Accepted without effect, not in the help. The text says why, `""` if no warning is due. */
  readonly retired?: string;
}

type Split<Text extends string> = Text extends `${infer First}|${infer Rest}` ? readonly [First, ...Split<Rest>]
  : readonly [Text];

/** The type of a flag by its spelling: `VALUE` makes it a text, `a|b` a choice. */
type Spelled<Spelling extends string> = Spelling extends `${string}--${string} ${infer Value}`
  ? Value extends `${string}|${string}` & Lowercase<Value> ? { readonly type: "choice"; readonly allowed: Split<Value> }
  : { readonly type: "text" }
  : { readonly type: "boolean" };

type Named = { readonly name: string; readonly doc: string };

/**
 * A flag as help spells it: `-n, --namespace NAMESPACE`, `--cni`, `--report text|json|none`. The spelling decides the
 * type unless `more` has one.
 */
export function flag<const Spelling extends string>(spelling: Spelling, doc: string): Named & Spelled<Spelling>;
export function flag<const Spelling extends string, const More extends Partial<Flag>>(
  spelling: Spelling,
  doc: string,
  more: More,
): Named & Omit<Spelled<Spelling>, keyof More> & More;
export function flag(spelling: string, doc: string, more: Partial<Flag> = {}): Flag {
  // No regular expression: some forty flags are declared before a command starts.
  const at = spelling.indexOf("--");
  const end = spelling.indexOf(" ", at);
  const name = spelling.slice(at + 2, end < 0 ? undefined : end);
  const value = end < 0 ? undefined : spelling.slice(end + 1);
  const choices = value?.includes("|") ? value.split("|") : [];
  const isChoice = choices.length > 0 && value === value?.toLowerCase();
  return {
    name,
    doc,
    ...at === 0 ? {} : { short: spelling.charAt(1) },
    ...value === undefined ? {} : { value },
    ...choices.length === 0 ? {} : { allowed: choices.filter((each) => each === each.toLowerCase()) },
    type: value === undefined ? "boolean" : isChoice ? "choice" : "text",
    ...more,
  };
}

type Variable = { readonly env: readonly [string]; readonly doc: string };

/** A setting that has an environment variable only; a text unless `more` has a type. */
export function variable(name: string, doc: string): Variable & { readonly type: "text" };
export function variable<const More extends Partial<Flag>>(
  name: string,
  doc: string,
  more: More,
): Variable & Omit<{ readonly type: "text" }, keyof More> & More;
export function variable(name: string, doc: string, more: Partial<Flag> = {}): Flag {
  return { env: [name], doc, type: "text", ...more };
}

/** Flags by the names that programs know them by. */
export type FlagTable<Name extends string = string> = Readonly<Record<Name, Flag>>;

/** Tables of flags by the titles that they have in the help. */
export type FlagGroups = Readonly<Record<string, FlagTable>>;

/** The names of all flags in groups. */
export type FlagNames<Groups extends FlagGroups> =
  & { [Title in keyof Groups]: keyof Groups[Title] }[keyof Groups]
  & string;

/** The type of a flag's value: with `undefined` where it has no default. */
export type ValueOf<F extends Flag> = F["type"] extends "boolean" ? boolean
  : F["type"] extends "list" | "files" | "urls" | "texts" ? readonly string[]
  : Single<F> | (F extends { readonly default: string } ? never : undefined);

type Single<F extends Flag> = F["type"] extends "integer" | "port" | "duration" | "ratio" ? number
  : F extends { readonly type: "choice"; readonly allowed: readonly (infer Word)[] } ? Word
  : string;

type Intersection<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer All) => void
  ? All
  : never;

/** The values of all flags in groups. */
export type Values<Groups extends FlagGroups> = Intersection<
  { [Title in keyof Groups]: { readonly [Name in keyof Groups[Title]]: ValueOf<Groups[Title][Name]> } }[keyof Groups]
>;

/** A duration that a timer can take. */
export const TIMER = { type: "duration", most: 2 ** 31 - 1 } as const;

/** A table whose flags share more properties. */
export function flagsWith<Table extends FlagTable, const Common extends Partial<Flag>>(
  table: Table,
  common: Common,
): { readonly [Name in keyof Table]: Table[Name] & Common };
export function flagsWith(table: FlagTable, common: Partial<Flag>): FlagTable {
  return Object.fromEntries(Object.entries(table).map(([name, flag]) => [name, { ...flag, ...common }]));
}

/** Whether the flag may stand without a value, and takes one only behind `=`. */
export function standsAlone({ type, implied }: Flag): boolean {
  return type === "boolean" || implied !== undefined;
}

/** The value of a flag that stands without one; `undefined` if it needs one. */
export function valueAlone({ type, implied }: Flag): string | undefined {
  return type === "boolean" ? "true" : implied;
}

/** All flags of groups as one table. */
export function flagTable<const Groups extends FlagGroups>(groups: Groups): FlagTable<FlagNames<Groups>>;
export function flagTable(groups: FlagGroups): FlagTable {
  return Object.assign({}, ...Object.values(groups));
}

/** The flags of a table with their names, in its order. */
export function flagEntries<Name extends string>(flags: FlagTable<Name>): (readonly [Name, Flag])[];
export function flagEntries(flags: FlagTable): (readonly [string, Flag])[] {
  return Object.entries(flags);
}

/** Whether a flag may be given again, each adding to the ones before. */
export function isRepeatable({ type }: Flag): boolean {
  return type === "list" || type === "files" || type === "urls" || type === "texts";
}

/** `-o/--output`, as messages call a flag; the variable where there is no flag. */
export function flagLabel({ name, short, env }: Flag): string {
  if (name === undefined) return env?.[0] ?? "";
  return short === undefined ? `--${name}` : `-${short}/--${name}`;
}

/** Warnings about retired flags that were given. `origins`: the spelling as given, by the name of the flag. */
export function retiredWarnings<Name extends string>(
  flags: FlagTable<Name>,
  originOf: (name: Name) => string | undefined,
): string[] {
  return flagEntries(flags).flatMap(([name, { retired = "" }]) => {
    const origin = retired === "" ? undefined : originOf(name);
    return origin === undefined ? [] : [`"${origin}" has no effect: ${retired}`];
  });
}
