/** The declaration of a flag, and the type of its value. */

/**
 * How the text of a flag is parsed, and the value that it becomes.
 *
 * | type                        | value                                                   |
 * |-----------------------------|---------------------------------------------------------|
 * | text, file, address         | the text; its reader checks it                          |
 * | name                        | a DNS label in lower case, as of a namespace, or `""`   |
 * | tag                         | a tag of an image, with or without a digest, or `""`    |
 * | url                         | an HTTP URL                                             |
 * | choice                      | one of `allowed`                                        |
 * | boolean                     | a value only after `=`, in the spellings that Go parses |
 * | integer, port               | a whole number from `least` to `most`                   |
 * | duration                    | Go's `1m30s`, in milliseconds from `least` to `most`    |
 * | ratio                       | a number from 0 to 1                                    |
 * | list, files                 | texts: comma-separated, repeatable                      |
 * | urls                        | URLs: repeatable                                        |
 * | texts                       | texts: repeatable, commas are part of a text            |
 */
export type FlagType =
  | "text"
  | "file"
  | "address"
  | "name"
  | "tag"
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
 * The kind of object that a value names, for completion. `configurations` completes file names and `rev:NAME`;
 * `folders` and `manifests` complete file names.
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

/** A flag, or a setting that only an environment variable sets. */
export interface Flag {
  /** The name without dashes. Absent for a setting that only an environment variable sets. */
  readonly name?: string;
  readonly short?: string;
  /** Environment variables to read if the flag is not given. The first variable that is set wins. */
  readonly env?: readonly string[];
  readonly type: FlagType;
  /** The text to parse if no value is given. */
  readonly default?: string;
  /** The default as help describes it, if the default is not a fixed text. */
  readonly defaultDoc?: string;
  /** The value of the flag without `=VALUE`. Other values are accepted only after `=`, as for a boolean. */
  readonly implied?: string;
  /** All values of a `choice`; for other types, values that completion suggests. */
  readonly allowed?: readonly string[];
  /** Source of completion values in addition to `allowed`. */
  readonly completes?: Completes;
  readonly least?: number;
  readonly most?: number;
  /** Milliseconds per unit, for numbers without a unit. If absent, a duration must have a unit. */
  readonly unit?: number;
  /** Placeholder of the value in help, such as `FILE`. */
  readonly value?: string;
  /** Help text in sentence case, without a final period. */
  readonly doc: string;
  /** The flag requires at least one of these flags. Using it without them is an error. */
  readonly needs?: readonly string[];
  /**
   * An argument that the flag requires, such as `rev:NAME`. Any argument with the same prefix up to the colon counts.
   */
  readonly needsArgument?: string;
  /** Names of flags that cannot be combined with this flag. */
  readonly excludes?: readonly string[];
  /** Alternative spellings, with their dashes. They are accepted but not shown in help. */
  readonly old?: readonly string[];
  /** The flag is accepted but not shown in help. */
  readonly hidden?: true;
  /**
   * The flag is accepted without effect and not shown in help. The text is the reason in the warning; `""` means no
   * warning.
   */
  readonly retired?: string;
}

type Split<Text extends string> = Text extends `${infer First}|${infer Rest}` ? readonly [First, ...Split<Rest>]
  : readonly [Text];

/** The type of a flag, derived from its spelling: `VALUE` means a text, `a|b` a choice. */
type Spelled<Spelling extends string> = Spelling extends `${string}--${string} ${infer Value}`
  ? Value extends `${string}|${string}` & Lowercase<Value> ? { readonly type: "choice"; readonly allowed: Split<Value> }
  : { readonly type: "text" }
  : { readonly type: "boolean" };

type Named = { readonly name: string; readonly doc: string };

/**
 * Declares a flag by its spelling in help: `-n, --namespace NAMESPACE`, `--cni`, `--report text|json|none`. The
 * spelling decides the type unless `more` sets one.
 */
export function flag<const Spelling extends string>(spelling: Spelling, doc: string): Named & Spelled<Spelling>;
export function flag<const Spelling extends string, const More extends Partial<Flag>>(
  spelling: Spelling,
  doc: string,
  more: More,
): Named & Omit<Spelled<Spelling>, keyof More> & More;
export function flag(spelling: string, doc: string, more: Partial<Flag> = {}): Flag {
  // No regular expression, for speed: about forty flags are declared before a command starts.
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

/** Declares a setting that only an environment variable sets. Its type is text unless `more` sets one. */
export function variable(name: string, doc: string): Variable & { readonly type: "text" };
export function variable<const More extends Partial<Flag>>(
  name: string,
  doc: string,
  more: More,
): Variable & Omit<{ readonly type: "text" }, keyof More> & More;
export function variable(name: string, doc: string, more: Partial<Flag> = {}): Flag {
  return { env: [name], doc, type: "text", ...more };
}

/** Flags by the names that code uses for them. */
export type FlagTable<Name extends string = string> = Readonly<Record<Name, Flag>>;

/** Tables of flags by their titles in help. */
export type FlagGroups = Readonly<Record<string, FlagTable>>;

/** The names of all flags in groups. */
export type FlagNames<Groups extends FlagGroups> =
  & { [Title in keyof Groups]: keyof Groups[Title] }[keyof Groups]
  & string;

/** The type of a flag's value. Includes `undefined` if the flag has no default. */
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

/** Type and maximum of a flag whose value sets a JavaScript timer. */
export const TIMER = { type: "duration", most: 2 ** 31 - 1 } as const;

/** Adds common properties to every flag of a table. */
export function flagsWith<Table extends FlagTable, const Common extends Partial<Flag>>(
  table: Table,
  common: Common,
): { readonly [Name in keyof Table]: Table[Name] & Common };
export function flagsWith(table: FlagTable, common: Partial<Flag>): FlagTable {
  return Object.fromEntries(Object.entries(table).map(([name, flag]) => [name, { ...flag, ...common }]));
}

/** Whether the flag works without a value and accepts a value only after `=`. */
export function standsAlone({ type, implied }: Flag): boolean {
  return type === "boolean" || implied !== undefined;
}

/** The value of a flag that is given without a value; `undefined` if the flag requires a value. */
export function valueAlone({ type, implied }: Flag): string | undefined {
  return type === "boolean" ? "true" : implied;
}

/** All flags of groups as one table. */
export function flagTable<const Groups extends FlagGroups>(groups: Groups): FlagTable<FlagNames<Groups>>;
export function flagTable(groups: FlagGroups): FlagTable {
  return Object.assign({}, ...Object.values(groups));
}

/** The pairs of name and flag of a table, in table order. */
export function flagEntries<Name extends string>(flags: FlagTable<Name>): (readonly [Name, Flag])[];
export function flagEntries(flags: FlagTable): (readonly [string, Flag])[] {
  return Object.entries(flags);
}

/** Whether a flag can be repeated to add values. */
export function isRepeatable({ type }: Flag): boolean {
  return type === "list" || type === "files" || type === "urls" || type === "texts";
}

/** The label of a flag in messages, such as `-o/--output`; the variable for a setting that has no flag. */
export function flagLabel({ name, short, env }: Flag): string {
  if (name === undefined) return env?.[0] ?? "";
  return short === undefined ? `--${name}` : `-${short}/--${name}`;
}

/** Warnings about retired flags on the command line. `origins` maps a flag's name to the spelling that was given. */
export function retiredWarnings<Name extends string>(
  flags: FlagTable<Name>,
  originOf: (name: Name) => string | undefined,
): string[] {
  return flagEntries(flags).flatMap(([name, { retired = "" }]) => {
    const origin = retired === "" ? undefined : originOf(name);
    return origin === undefined ? [] : [`"${origin}" has no effect: ${retired}`];
  });
}
