/** Maximum number of edits: more edits would match unrelated short names such as `istio.io/rev`. */
const MAX_EDITS = 2;

/** In words up to this length, two edits may give an unrelated word: "get" and "agent". */
const SHORT = 4;

/**
 * Returns the candidate with the fewest edits from the word, at most two. Of equally similar candidates, returns the
 * first. In a word of up to four letters, two edits may only swap letters. Ignores case.
 */
export function closest(word: string, candidates: readonly string[]): string | undefined {
  let best: string | undefined;
  let least = MAX_EDITS + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= least) continue;
    const [typed, known] = [word.toLowerCase(), candidate.toLowerCase()];
    const edits = editDistance(typed, known);
    if (edits >= least || (edits > 1 && word.length <= SHORT && sorted(typed) !== sorted(known))) continue;
    best = candidate;
    least = edits;
  }
  return best;
}

function sorted(text: string): string {
  return [...text].sort().join("");
}

/** Returns the minimum number of insertions, deletions and replacements between two texts (Levenshtein). */
export function editDistance(a: string, b: string): number {
  let previous = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const replaced = (previous[column - 1] ?? 0) + (a[row - 1] === b[column - 1] ? 0 : 1);
      current.push(Math.min(replaced, (previous[column] ?? 0) + 1, (current[column - 1] ?? 0) + 1));
    }
    previous = current;
  }
  return previous[b.length] ?? 0;
}
