import { catchSaysWhy, errorMessage, noDeno, noPutOff } from "./house.ts";
import { complexity, maxDepth, maxLines, maxParams } from "./metrics.ts";
import { plainWords } from "./words.ts";

/** The rules of this project for `deno lint`. */
const plugin: Deno.lint.Plugin = {
  name: "mesh",
  rules: {
    "complexity": complexity,
    "max-depth": maxDepth,
    "max-params": maxParams,
    "max-lines": maxLines,
    "no-deno": noDeno,
    "error-message": errorMessage,
    "no-put-off": noPutOff,
    "catch-says-why": catchSaysWhy,
    "plain-words": plainWords,
  },
};

export default plugin;
