/** Rules of this project. */

/** Whether a file implements the World, or is not part of the program. */
function mayUseDeno(file: string): boolean {
  const path = file.replaceAll("\\", "/");
  return !path.includes("/src/") || /\/src\/main\.ts$|\/src\/platform\/|_test\.ts$/.test(path);
}

/**
 * Reports `Deno` outside of `src/main.ts` and the implementation of the World: commands receive the World as an
 * argument.
 */
export const noDeno: Deno.lint.Rule = {
  create(context) {
    if (mayUseDeno(context.filename)) return {};
    return {
      "Identifier[name='Deno']"(node: Deno.lint.Node) {
        context.report({
          node,
          message: "Deno is used outside of the world",
          hint: "Take it from the World passed in",
        });
      },
    };
  },
};

/** The position of the message in the arguments of each error's constructor. */
const MESSAGE_OF: Readonly<Record<string, number>> = { MeshError: 0, UsageError: 0, InjectionError: 1 };

/** Forbidden patterns in messages. U+FFFC replaces each template expression. */
const FLAWS: readonly { readonly pattern: RegExp; readonly message: string }[] = [
  { pattern: /^[a-z]/, message: "An error message starts upper-case" },
  { pattern: /\.\s*$/, message: "An error message has no final period" },
  { pattern: /n't\b|\b(it|that|there|what)'s\b|\w'(re|ve|ll)\b/i, message: "An error message has no contractions" },
  { pattern: /'\uFFFC'|`\uFFFC`/, message: "An error message has its values in double quotes" },
];

/** Reports messages of the errors in {@link MESSAGE_OF} that break the rules for error messages. */
export const errorMessage: Deno.lint.Rule = {
  create(context) {
    if (context.filename.endsWith("_test.ts")) return {};
    return {
      NewExpression(node) {
        const index = node.callee.type === "Identifier" ? MESSAGE_OF[node.callee.name] : undefined;
        const text = index === undefined ? undefined : textOf(node.arguments[index]);
        for (const { pattern, message } of FLAWS) {
          if (text !== undefined && pattern.test(text)) context.report({ node, message });
        }
      },
    };
  },
};

function textOf(node: Deno.lint.Node | undefined): string | undefined {
  if (node?.type === "Literal") return typeof node.value === "string" ? node.value : undefined;
  if (node?.type === "TemplateLiteral") return node.quasis.map((quasi) => quasi.cooked).join("\uFFFC");
  return undefined;
}

/** Reports comments such as "to do" that postpone work. */
export const noPutOff: Deno.lint.Rule = {
  create(context) {
    return {
      Program() {
        for (const comment of context.sourceCode.getAllComments()) {
          const word = /\b(TODO|FIXME|XXX|HACK)\b/.exec(comment.value)?.[1];
          if (word === undefined) continue;
          context.report({ range: comment.range, message: `A comment says ${word}`, hint: "Do it, or open an issue" });
        }
      },
    };
  },
};

/**
 * Reports a `catch {` in the program without a comment. It catches every error, so the comment must say which error it
 * expects.
 */
export const catchSaysWhy: Deno.lint.Rule = {
  create(context) {
    if (!context.filename.replaceAll("\\", "/").includes("/src/") || context.filename.endsWith("_test.ts")) return {};
    return {
      CatchClause(node) {
        if (node.param !== null || /^\{\s*\/\//.test(context.sourceCode.getText(node.body))) return;
        context.report({
          node,
          message: "A catch without a variable does not say which failure it expects",
          hint: "Start it with a comment that says so, or catch that failure only",
        });
      },
    };
  },
};
