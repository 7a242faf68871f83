/** Decides which calls of template functions treat a placeholder token like any other name. */
import { GoStruct, isGoMap, isList, type Watch } from "../../../golang/gotemplate/mod.ts";
import { type Holes, holesIn, isName, isToken } from "./holes.ts";

type Args = Parameters<Watch>[1];
type Rule = (args: Args, result: Parameters<Watch>[2]) => boolean;

/** Returns a watch for one rendering. It throws if a call changes a map that the template did not create with `dict`. */
export function writesOnlyOwn(): Watch {
  const made = new WeakSet<object>();
  return (name, [target], result, effect) => {
    if (name === "dict" && isGoMap(result)) made.add(result);
    if (effect === "writes" && !(isGoMap(target) && made.has(target))) {
      throw new Error("the template changes a map that it did not create");
    }
  };
}

/** Returns whether a mapping of the input contains tokens; `undefined` if the mapping is not part of the input. */
export type ShowsTokens = (map: object) => boolean | undefined;

/** Whether an argument is or contains a token. */
function holds(arg: Args[number], showsTokens: ShowsTokens): boolean {
  if (typeof arg === "string") return holesIn(arg).length > 0;
  if (isList(arg)) return arg.some((item) => holds(item, showsTokens));
  if (arg instanceof GoStruct) return WITH_NAMES.has(arg.goType);
  if (!isGoMap(arg)) return typeof arg === "function";
  return showsTokens(arg) ?? Object.values(arg).some((item) => holds(item, showsTokens));
}

/** Go types that contain container names, and all Go types that contain names of a pod or its owner. */
const OF_CONTAINERS = new Set(["v1.PodSpec", "v1.Container"]);
const WITH_NAMES = new Set([
  "*inject.SidecarTemplateData",
  "v1.ObjectMeta",
  "types.NamespacedName",
  ...OF_CONTAINERS,
]);

/** Returns the holes on which the result of a call depends. Empty if the call treats tokens like other names. */
export function dependsOn(
  showsTokens: ShowsTokens,
  ...[name, args, result]: Parameters<Watch>
): Holes {
  const holding = args.filter((arg) => holds(arg, showsTokens));
  if (holding.length === 0 || (SAFE.get(name)?.(args, result) ?? false)) return [];
  if (holding.every((arg) => typeof arg === "string")) return holding.flatMap(holesIn);
  return holding.every(isOfContainers) ? "containers" : "any";
}

function isOfContainers(arg: Args[number]): boolean {
  return isList(arg) ? arg.every(isOfContainers) : arg instanceof GoStruct && OF_CONTAINERS.has(arg.goType);
}

const isText = (arg: Args[number]): arg is string => typeof arg === "string";
const areTexts: Rule = (args) => args.every(isText);
const isBare = (arg: Args[number]) => !isText(arg) || holesIn(arg).length === 0;
const isNested = (arg: Args[number]) =>
  isList(arg) || isGoMap(arg) || (arg instanceof GoStruct && WITH_NAMES.has(arg.goType));
const onlyFirstHolds: Rule = ([, ...keys]) => keys.every((key) => isText(key) && isBare(key));
const isOnList: Rule = ([list = null, ...keys]) => isList(list) && keys.every((key) => isBare(key) && !isNested(key));
const always: Rule = () => true;

/** Safe if every comparison is between a token and a text that cannot be a name, because these are never equal. */
const comparesWithOthers: Rule = ([first, ...others]) =>
  others.every((other) => {
    if (!isText(first) || !isText(other)) return false;
    if (isBare(first)) return isBare(other) || (isToken(other) && !isName(first));
    return isToken(first) && isBare(other) && !isName(other);
  });

/** For each function, the rule that says whether a call is safe. At least one argument of the call contains a token. */
const SAFE: ReadonlyMap<string, Rule> = new Map<string, Rule>([
  // A call with more than one index could read a single byte of a name.
  ["index", (args, result) => onlyFirstHolds(args, result) || (args.length === 2 && isOnList(args, result))],
  ["isset", onlyFirstHolds],
  // Returns an annotation, or the third argument as text.
  ["annotation", ([, name, otherwise = null]) => isText(name) && isBare(name) && !isNested(otherwise)],
  ...["not", "coalesce", "default", "valueOrDefault", "quote", "squote", "print", "toLower", "lower"].map((name) =>
    [name, areTexts] as const
  ),
  // These use only the ports of containers. The one use of a container's name is to compare it with the proxy's name.
  ["applicationPorts", always],
  ["includeInboundPorts", always],
  ["append", ([list = null]) => isList(list)],
  ["first", isOnList],
  ["last", isOnList],
  ["len", isOnList],
  ["join", ([by, list = null]) => isText(by) && isBare(by) && isList(list) && list.every(isText)],
  ["eq", comparesWithOthers],
  ["ne", comparesWithOthers],
  ["printf", (args) => areTexts(args, undefined) && isBare(args[0]) && /^(?:[^%]|%[sv%])*$/.test(String(args[0]))],
  // These keep a name unchanged: it has at most 63 characters, and starts and ends with a letter or a digit.
  ["trunc", ([count, text]) => typeof count === "bigint" && count >= 63n && isText(text) && isToken(text)],
  ["trimAll", ([cut, text]) => isText(cut) && !/[a-z0-9]/i.test(cut) && isText(text)],
  // An empty result means that no attribute was computed from a name.
  ["otelResourceAttributes", (_, result) => result === ""],
]);
