/** Command lines of this program in texts that people read: in blocks of code and in code between words. */

/** Where a command of the program begins; the second form only where a command of a shell may begin. */
const START =
  /\bkubectl mesh(?= |$)|(?<=(?:^|[|&;(`"]) *(?:[$>] )?(?:sudo |exec |[A-Z_]+=\S+ )*)(?:[\w./~-]*\/)?kubectl-mesh(?= |$)/gm;

/** The arguments of each command of the program in a text of code, in order. */
export function shownCommands(code: string): string[][] {
  const text = code.replaceAll(/\\\n(?:> )?\s*/g, "");
  return [...text.matchAll(START)].map(({ 0: name, index }) => shellWords(text.slice(index + name.length)));
}

const WORD = /(?:\$\([^)\n]*\)|[^\s"'\\|│&;<>()`]|\\.|"(?:[^"\\\n]|\\.)*"|'[^'\n]*')+/y;

/** The words of a shell up to the end of the simple command; redirections and comments end it too. */
export function shellWords(text: string): string[] {
  const words: string[] = [];
  for (let at = 0;;) {
    at += /^ */.exec(text.slice(at))?.[0].length ?? 0;
    WORD.lastIndex = at;
    const [word] = WORD.exec(text) ?? [];
    if (word === undefined || (word.startsWith("#") && at > 0)) return words;
    at += word.length;
    // The number of a stream, as in `2>&1`.
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
