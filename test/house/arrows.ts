import { posix } from "node:path";

/** An import in a file. */
export interface Import {
  readonly from: string;
  /** The imported file, as a path in the checkout. */
  readonly to: string;
  /** How it is imported. `lazy`: with `import()`. `type`: only for types, so it is gone after compilation. */
  readonly how: "eager" | "lazy" | "type";
}

const STATEMENT = /^(?:import|export)\s+(type\s+)?(?:[^"';]*?\sfrom\s+)?"(\.[^"]+)"/gm;
const CALL = /\bimport\(\s*"(\.[^"]+)"/g;

/** Returns the imports of other project files in a source text. */
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

/** Returns the folder below `src` that contains a file; `main` for files directly in `src`. */
export function topFolder(path: string): string {
  const [, folder = "", ...rest] = path.split("/");
  return rest.length === 0 ? "main" : folder;
}

/** Commands whose entry module other commands may import, each with these commands. */
const IMPORTERS: Readonly<Record<string, readonly string[]>> = {
  inject: ["webhook", "check"],
  iptables: ["explain", "cni"],
  explain: ["check"],
};

/** The layers below the commands, each with the layers that it may import. Commands may import all layers. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  istio: ["kube", "golang", "yaml", "base"],
  kube: ["platform", "golang", "yaml", "base"],
  platform: ["golang", "base"],
  golang: ["base"],
  yaml: ["base"],
  base: [],
};

/**
 * Returns why an import breaks the rules; `undefined` if it is allowed.
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
  { reason: "only the mod.ts of a package may be imported", breaks: reachesIntoPackage },
  {
    reason: "main may import only cli and layers",
    breaks: (each) => goesToCommand(each) && topFolder(each.from) === "main" && topFolder(each.to) !== "cli",
  },
  {
    reason: "a layer may not import a command",
    breaks: (each) => goesToCommand(each) && isLayer(topFolder(each.from)),
  },
  { reason: "this layer may not import that one", breaks: isUpward },
  {
    reason: "only the mod.ts of a command may be imported",
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

/**
 * Whether the import is from the folder of a different command. `cli` counts as a command; layers and files directly in
 * `src` do not.
 */
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

/** Layers in which each folder is a package. Every other layer is a single package. */
const PACKAGES_IN: readonly string[] = ["golang", "base"];

/**
 * Files of a package that other layers may import directly: type-only files, and files that the entry module cannot
 * export without an import cycle.
 */
const OPEN: readonly string[] = ["src/platform/world.ts", "src/platform/request_failure.ts"];

/** Whether a layer imports a package in another way than through its mod.ts. */
function reachesIntoPackage({ from, to }: Import): boolean {
  const target = packageOf(to);
  if (target === undefined || !isLayer(topFolder(from)) || target === packageOf(from)) return false;
  return !OPEN.includes(to) && to !== `${target}/mod.ts`;
}

/** Returns the folder whose mod.ts is the entry module for a file; `undefined` if there is none. */
export function packageOf(path: string): string | undefined {
  const [, folder = "", child = "", ...rest] = path.split("/");
  if (child === "") return undefined;
  if (!PACKAGES_IN.includes(folder)) return `src/${folder}`;
  return rest.length === 0 ? undefined : `src/${folder}/${child}`;
}
