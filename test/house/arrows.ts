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

/**
 * Why an import breaks the rules; `undefined` if it does not.
 *
 * | from   | may import                                          |
 * |--------|-----------------------------------------------------|
 * | main   | cli, core                                           |
 * | cli    | core; the entry of a room by import() or for a type |
 * | core   | core                                                |
 * | a room | core; webhook and check also the entry of inject, explain that of iptables, check that of explain |
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
    reason: "main imports cli and core",
    breaks: (each) => isGuest(each) && roomOf(each.from) === "main" && roomOf(each.to) !== "cli",
  },
  { reason: "core imports no room", breaks: (each) => isGuest(each) && roomOf(each.from) === "core" },
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

/** Whether the import goes to another room. Core and the files at the top of `src` are no rooms. */
function isGuest({ from, to }: Import): boolean {
  return to.startsWith("src/") && ![roomOf(from), "core", "main"].includes(roomOf(to));
}

function mayVisit(source: string, target: string): boolean {
  return source === "main" || source === "cli" || (GUESTS[target] ?? []).includes(source);
}

/** Files of a package of core that others may import past its entry: types alone. */
const OPEN = /^src\/core\/(world\/world|gotemplate\/value)\.ts$/;

/** Inside core a package imports another by its mod.ts. */
function reachesIntoPackage({ from, to }: Import): boolean {
  const packageOf = (path: string) => /^src\/core\/([^/]+)\//.exec(path)?.[1];
  const target = packageOf(to);
  if (target === undefined || roomOf(from) !== "core") return false;
  return target !== packageOf(from) && !OPEN.test(to) && to !== `src/core/${target}/mod.ts`;
}
