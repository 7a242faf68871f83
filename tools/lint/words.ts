/** Words that this project does not use, and their replacements (CONTRIBUTING.md, "Words"). */

/** Replacements for words in names, by word. Names are split at `camelCase` and `UPPER_CASE` boundaries. */
const NAMES: Readonly<Record<string, string>> = {
  told: "reported, shown, said",
  tell: "report, show, say",
  tells: "reports, shows, says",
  telling: "reporting",
  way: "path, connection, step",
  ways: "paths, connections, steps",
  glance: "summary, overview",
  laid: "set, placed",
  room: "package, module, folder",
  rooms: "packages, modules, folders",
  house: "project",
  patience: "timeout",
  surroundings: "environment",
  errand: "task, effect",
  errands: "tasks, effects",
};

/** Replacements in comments, and in strings that contain a space. */
const TEXTS: readonly { readonly pattern: RegExp; readonly instead: string }[] = [
  { pattern: /(?<!\bcannot[ -])\b(tell|tells|told|telling)\b/i, instead: "return, report, say, show, print" },
  { pattern: /\b(those|that) of\b/i, instead: "the noun again" },
  { pattern: /\bof which\b/i, instead: "whose, or a second sentence" },
  { pattern: /\bglance\b/i, instead: "summary, overview" },
  { pattern: /\b(patience|surroundings|errands?|laid)\b/i, instead: "timeout, environment, tasks, set" },
  { pattern: /\b(rooms?|(?<!test\/)house)\b/i, instead: "package, module, folder" },
];

/** `cannotTell` is allowed: it is the answer for "unknown". */
const ALLOWED = /^cannotTell|^CannotTell/;

/** Reports words of {@link NAMES} and {@link TEXTS} in sources, tests and tools. */
export const plainWords: Deno.lint.Rule = {
  create(context) {
    if (/[/\\]tools[/\\]lint[/\\]/.test(context.filename)) return {}; // The list itself and its test.
    const name = (node: Deno.lint.Node, text: string) => {
      if (text.startsWith("MOST_")) {
        context.report({ node, message: `"${text}" begins with MOST_`, hint: "Say MAX_" });
      }
      if (ALLOWED.test(text)) return;
      const found = text.split(/_|(?<=[a-z0-9])(?=[A-Z])/).find((part) => Object.hasOwn(NAMES, part.toLowerCase()));
      if (found === undefined) return;
      context.report({ node, message: `"${text}" says "${found}"`, hint: `Say: ${NAMES[found.toLowerCase()]}` });
    };
    const text = (range: Deno.lint.Range, content: string) => {
      for (const { pattern, instead } of TEXTS) {
        const found = pattern.exec(content)?.[0];
        if (found !== undefined) context.report({ range, message: `This says "${found}"`, hint: `Say: ${instead}` });
      }
    };
    const literal = (node: Deno.lint.Node, value: unknown) => {
      if (typeof value === "string" && value.includes(" ")) text(node.range, value);
    };
    return {
      Identifier: (node) => name(node, node.name),
      PrivateIdentifier: (node) => name(node, node.name),
      Literal: (node) => literal(node, node.value),
      TemplateElement: (node) => literal(node, node.cooked),
      Program() {
        for (const comment of context.sourceCode.getAllComments()) text(comment.range, comment.value);
      },
    };
  },
};
