/** Which calls of template functions do with a token what they do with any other name. */
import { GoStruct, type GoValue, isGoMap, isList, type Watch } from "../../../core/gotemplate/mod.ts";
import type { LoadedConfig } from "../../config/injector.ts";
import { holesIn, isName, isToken } from "./holes.ts";

type Args = Parameters<Watch>[1];
type Rule = (args: Args, result: Parameters<Watch>[2]) => boolean;

/** Functions that depend on their arguments alone, change none of them, and return the same each time. */
const PURE = new Set(
  ("and or not len index slice eq ne lt le gt ge print println printf annotation append appendMultusNetwork " +
    "applicationPorts coalesce contains default dict directory empty excludeInboundPort excludeInterfaces first formatDuration " +
    "fromJSON hasKey hasPrefix hasSuffix includeInboundPorts indent int isset join kubevirtInterfaces last list lower " +
    "mergeMaps nindent omit omitNil otelResourceAttributes protoToJSON quote replace split splitList squote strdict " +
    "structToJSON ternary toJSON toJsonMap toLower toString toYaml trim trimAll trimPrefix trimSuffix trunc upper valueOrDefault")
    .split(" "),
);

/** Whether a template calls only functions whose results can be kept. */
export function isPure(functionNames: ReadonlySet<string>): boolean {
  return functionNames.isSubsetOf(PURE);
}

/** Functions that change a map argument, but return the same each time too. */
const REPEATABLE = PURE.union(new Set(["compact", "get", "merge", "mergeOverwrite", "set", "toJson", "unset"]));

/** Whether all templates of a configuration render the same for equal pods: nothing depends on time or chance. */
export function isRepeatable(config: LoadedConfig): boolean {
  return config.form === "modern" &&
    config.templates.values().every((template) => template().functionNames.isSubsetOf(REPEATABLE));
}

/** Whether a mapping of the input shows tokens; `undefined` for another mapping. */
export type ShowsTokens = (map: object) => boolean | undefined;

/** Whether an argument is or contains a token. */
function holds(arg: Args[number], showsTokens: ShowsTokens): boolean {
  if (typeof arg === "string") return holesIn(arg).length > 0;
  if (isList(arg)) return arg.some((item) => holds(item, showsTokens));
  if (arg instanceof GoStruct) return WITH_NAMES.has(arg.goType);
  if (!isGoMap(arg)) return typeof arg === "function";
  return showsTokens(arg) ?? Object.values(arg).some((item) => holds(item, showsTokens));
}

/** Structs that contain names of a pod or of its owner. */
const WITH_NAMES = new Set(["*inject.SidecarTemplateData", "v1.ObjectMeta", "types.NamespacedName"]);

/**
 * Whether a call does with its tokens what it does with other names. If not, returns the holes it depends on, or "any".
 */
export function dependsOn(
  showsTokens: ShowsTokens,
  ...[name, args, result]: Parameters<Watch>
): readonly number[] | "any" {
  const holding = args.filter((arg) => holds(arg, showsTokens));
  if (holding.length === 0 || (SAFE.get(name)?.(args, result) ?? false)) return [];
  return holding.every((arg) => typeof arg === "string") ? holding.flatMap(holesIn) : "any";
}

const isText = (arg: Args[number]): arg is string => typeof arg === "string";
const areTexts: Rule = (args) => args.every(isText);
const isBare = (arg: Args[number]) => !isText(arg) || holesIn(arg).length === 0;
const isNested = (arg: GoValue) =>
  isList(arg) || isGoMap(arg) || (arg instanceof GoStruct && WITH_NAMES.has(arg.goType));
const onlyFirstHolds: Rule = ([, ...keys]) => keys.every((key) => isText(key) && isBare(key));

/** A token is equal to no text that is not a name. */
const comparesWithOthers: Rule = ([first, ...others]) =>
  others.every((other) => {
    if (!isText(first) || !isText(other)) return false;
    if (isBare(first)) return isBare(other) || (isToken(other) && !isName(first));
    return isToken(first) && isBare(other) && !isName(other);
  });

/** Safe calls by function, of arguments of which one holds a token. */
const SAFE: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  ["index", onlyFirstHolds],
  ["isset", onlyFirstHolds],
  // The annotation of that name, or the third argument as text.
  ["annotation", ([, name, otherwise = null]) => isText(name) && isBare(name) && !isNested(otherwise)],
  ...["not", "coalesce", "default", "valueOrDefault", "quote", "squote", "print", "toLower", "lower"].map((name) =>
    [name, areTexts] as const
  ),
  ["eq", comparesWithOthers],
  ["ne", comparesWithOthers],
  ["printf", (args) => areTexts(args, undefined) && isBare(args[0]) && /^(?:[^%]|%[sv%])*$/.test(String(args[0]))],
  // Names have up to 63 characters, letters and digits at both ends.
  ["trunc", ([count, text]) => typeof count === "bigint" && count >= 63n && isText(text) && isToken(text)],
  ["trimAll", ([cut, text]) => isText(cut) && !/[a-z0-9]/i.test(cut) && isText(text)],
  // No attribute is wanted, or there is none.
  ["otelResourceAttributes", (_, result) => result === ""],
]);

/** Throws for a call that may do something else with another text than a token, also one that is no name. */
export const refuseDeciding: Watch = (...call) => {
  const [name, args] = call;
  const noneShown = () => undefined;
  const compares = (name === "eq" || name === "ne") && args.some((arg) => holds(arg, noneShown));
  if (compares || dependsOn(noneShown, ...call).length > 0) throw new Error("a name decides");
};
