import { posix } from "node:path";

/** One import in a file. */
export interface Import {
  readonly from: string;
  /** The file that is imported, as a path from the checkout. */
  readonly to: string;
  /** `lazy`: by `import()`. `type`: gone after compilation. */
  readonly how: "eager" | "lazy" | "type";
}

const STATEMENT = /^(?:import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?"(\.[^"]+)"/gm;
const CALL = /\bimport\(\s*"(\.[^"]+)"/g;

/** The imports of other files of the project in a source text. */
export function importsOf(path: string, text: string): Import[] {
  const to = (specifier: string) => posix.join(posix.dirname(path), specifier);
  const code = text.replace(/^\s*(\*|\/\/).*$/gm, "");
  return [
    ...[...code.matchAll(STATEMENT)].map(([, type, specifier = ""]): Import => ({
      from: path,
      to: to(specifier),
      how: type === undefined ? "eager" : "type",
    })),
    ...[...code.matchAll(CALL)].map(([, specifier = ""]): Import => ({ from: path, to: to(specifier), how: "lazy" })),
  ];
}

/** The room of a file: the folder under `src`, or `main` for the files there. */
export function roomOf(path: string): string {
  const [, room = "", ...rest] = path.split("/");
  return rest.length === 0 ? "main" : room;
}

/** Rooms whose entry others may import. */
const GUESTS: Readonly<Record<string, readonly string[]>> = {
  inject: ["webhook", "check"],
  iptables: ["explain"],
  explain: ["check"],
};

/** What commands are made of, from the top: a room, and the rooms of this table that it may import. All others may import all of them. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  istio: ["kube", "golang", "yaml", "base"],
  kube: ["platform", "golang", "yaml", "base"],
  platform: ["golang", "base"],
  golang: ["base"],
  yaml: ["base"],
  base: [],
};

/**
 * Why an import breaks the rules; `undefined` if it does not.
 *
 * | from   | may import                                            |
 * |--------|-------------------------------------------------------|
 * | main   | cli, layers                                           |
 * | cli    | layers; the entry of a room by import() or for a type |
 * | layer  | the layers that LAYERS names                          |
 * | a room | layers; webhook and check also the entry of inject, explain that of iptables, check that of explain |
 *
 * Every file may import the files at the top of `src`, except main.ts.
 */
export function objection(each: Import): string | undefined {
  return RULES.find(({ breaks }) => breaks(each))?.reason;
}

interface Rule {
  readonly reason: string;
  readonly breaks: (each: Import) => boolean;
}

const RULES: readonly Rule[] = [
  {
    reason: "it is not in src/",
    breaks: ({ to }) => !to.startsWith("src/") && !/^(deno\.json|docs\/checks\.md|completions\/.*)$/.test(to),
  },
  { reason: "nothing imports main.ts", breaks: ({ to }) => to === "src/main.ts" },
  { reason: "of a package only mod.ts is imported", breaks: reachesIntoPackage },
  {
    reason: "main imports cli and layers",
    breaks: (each) => isGuest(each) && roomOf(each.from) === "main" && roomOf(each.to) !== "cli",
  },
  { reason: "a layer imports no room", breaks: (each) => isGuest(each) && isLayer(roomOf(each.from)) },
  { reason: "this layer does not lie above that one", breaks: isUpward },
  {
    reason: "of a room only mod.ts is imported",
    breaks: (each) => isGuest(each) && !/^src\/[^/]+\/mod\.ts$/.test(each.to),
  },
  {
    reason: "cli loads a room by import() when its command runs",
    breaks: (each) => isGuest(each) && roomOf(each.from) === "cli" && each.how === "eager",
  },
  {
    reason: "this room is no guest of that one",
    breaks: (each) => isGuest(each) && !mayVisit(roomOf(each.from), roomOf(each.to)),
  },
];

/** Whether the import goes to another room. Layers and the files at the top of `src` are no rooms. */
function isGuest({ from, to }: Import): boolean {
  return to.startsWith("src/") && ![roomOf(from), "main"].includes(roomOf(to)) && !isLayer(roomOf(to));
}

function isLayer(room: string): boolean {
  return Object.hasOwn(LAYERS, room);
}

function isUpward({ from, to }: Import): boolean {
  const [source, target] = [roomOf(from), roomOf(to)];
  return isLayer(source) && isLayer(target) && source !== target && !LAYERS[source]?.includes(target);
}

function mayVisit(source: string, target: string): boolean {
  return source === "main" || source === "cli" || (GUESTS[target] ?? []).includes(source);
}

/** Layers whose folders are packages; of the others the whole layer is one. */
const PACKAGES_IN: readonly string[] = ["golang", "base"];

/** Files of a package that layers may import past its entry: types alone, and what the entry cannot export without a circle. */
const OPEN: readonly string[] = ["src/platform/world.ts", "src/platform/request_failure.ts"];

/** A layer imports a package by its mod.ts. */
function reachesIntoPackage({ from, to }: Import): boolean {
  const target = packageOf(to);
  if (target === undefined || !isLayer(roomOf(from)) || target === packageOf(from)) return false;
  return !OPEN.includes(to) && to !== `${target}/mod.ts`;
}

/** The folder whose mod.ts is the entry to a file; `undefined` for a file that has none. */
export function packageOf(path: string): string | undefined {
  const [, room = "", child = "", ...rest] = path.split("/");
  if (child === "") return undefined;
  if (!PACKAGES_IN.includes(room)) return `src/${room}`;
  return rest.length === 0 ? undefined : `src/${room}/${child}`;
}
