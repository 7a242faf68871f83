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

/** The folder under `src` that a file is in; `main` for the files there. */
export function topFolder(path: string): string {
  const [, folder = "", ...rest] = path.split("/");
  return rest.length === 0 ? "main" : folder;
}

/** Commands whose entry other commands may import. */
const IMPORTERS: Readonly<Record<string, readonly string[]>> = {
  inject: ["webhook", "check"],
  iptables: ["explain", "cni"],
  explain: ["check"],
};

/** What commands are built from: a layer, and the layers that it may import. Commands may import all. */
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
 * | from      | may import                                               |
 * |-----------|----------------------------------------------------------|
 * | main      | cli, layers                                              |
 * | cli       | layers; the entry of a command by import() or for a type |
 * | a layer   | the layers that LAYERS names                             |
 * | a command | layers; the entry of commands that IMPORTERS names       |
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
    breaks: (each) => goesToCommand(each) && topFolder(each.from) === "main" && topFolder(each.to) !== "cli",
  },
  { reason: "a layer imports no command", breaks: (each) => goesToCommand(each) && isLayer(topFolder(each.from)) },
  { reason: "this layer may not import that one", breaks: isUpward },
  {
    reason: "of a command only mod.ts is imported",
    breaks: (each) => goesToCommand(each) && !/^src\/[^/]+\/mod\.ts$/.test(each.to),
  },
  {
    reason: "cli loads a command's folder by import() when it runs",
    breaks: (each) => goesToCommand(each) && topFolder(each.from) === "cli" && each.how === "eager",
  },
  {
    reason: "this command may not import that one",
    breaks: (each) => goesToCommand(each) && !mayImport(topFolder(each.from), topFolder(each.to)),
  },
];

/** Whether the import goes to the folder of another command: `cli` is one, layers and the files at the top of `src` are none. */
function goesToCommand({ from, to }: Import): boolean {
  return to.startsWith("src/") && ![topFolder(from), "main"].includes(topFolder(to)) && !isLayer(topFolder(to));
}

function isLayer(folder: string): boolean {
  return Object.hasOwn(LAYERS, folder);
}

function isUpward({ from, to }: Import): boolean {
  const [source, target] = [topFolder(from), topFolder(to)];
  return isLayer(source) && isLayer(target) && source !== target && !LAYERS[source]?.includes(target);
}

function mayImport(source: string, target: string): boolean {
  return source === "main" || source === "cli" || (IMPORTERS[target] ?? []).includes(source);
}

/** Layers whose folders are packages; of the others the whole layer is one. */
const PACKAGES_IN: readonly string[] = ["golang", "base"];

/** Files of a package that layers may import past its entry: types alone, and what the entry cannot export without a circle. */
const OPEN: readonly string[] = ["src/platform/world.ts", "src/platform/request_failure.ts"];

/** A layer imports a package by its mod.ts. */
function reachesIntoPackage({ from, to }: Import): boolean {
  const target = packageOf(to);
  if (target === undefined || !isLayer(topFolder(from)) || target === packageOf(from)) return false;
  return !OPEN.includes(to) && to !== `${target}/mod.ts`;
}

/** The folder whose mod.ts is the entry to a file; `undefined` for a file that has none. */
export function packageOf(path: string): string | undefined {
  const [, folder = "", child = "", ...rest] = path.split("/");
  if (child === "") return undefined;
  if (!PACKAGES_IN.includes(folder)) return `src/${folder}`;
  return rest.length === 0 ? undefined : `src/${folder}/${child}`;
}
