/** Finds command lines of this program in texts for people, in code blocks and in inline code. */

/** Matches the start of a command. `kubectl-mesh` counts only where a shell command may start. */
const START =
  /\bkubectl mesh(?= |$)|(?<=(?:^|[|&;(`"]) *(?:[$>] )?(?:sudo |exec |[A-Z_]+=\S+ )*)(?:[\w./~-]*\/)?kubectl-mesh(?= |$)/gm;

/** Returns the arguments of each command in a text of code, in order. */
export function shownCommands(code: string): string[][] {
  const text = code.replaceAll(/\\\n(?:> )?\s*/g, "");
  return [...text.matchAll(START)].map(({ 0: name, index }) => shellWords(text.slice(index + name.length)));
}

const WORD = /(?:\$\([^)\n]*\)|[^\s"'\\|│&;<>()`]|\\.|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')+/y;

/** Splits a text into shell words, up to the end of the simple command, a redirection, or a comment. */
export function shellWords(text: string): string[] {
  const words: string[] = [];
  for (let at = 0;;) {
    at += /^ */.exec(text.slice(at))?.[0].length ?? 0;
    WORD.lastIndex = at;
    const [word] = WORD.exec(text) ?? [];
    if (word === undefined || (word.startsWith("#") && at > 0)) return words;
    at += word.length;
    // The number of a stream, as in `2>&1`, is not an argument.
    if (/^\d$/.test(word) && text[at] === ">") return words;
    words.push(unquoted(word));
  }
}

function unquoted(word: string): string {
  return word.replaceAll(
    /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)/g,
    (_all, double, single, escaped) => double ?? single ?? escaped,
  );
}
