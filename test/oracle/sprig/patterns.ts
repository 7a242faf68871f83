/** Generates Go regular expressions, and texts that they may match. */
import { fc } from "../../support/properties.ts";

const atom = fc.constantFrom(
  ..."a b c . ^ $ [ab] [^a] [a-c] \\b \\B \\d \\w \\W \\s é 😀 (?i:A) (?i:é) [[:alpha:]] \\pL (?m:^) (?m:$) (?s:.) \\x61"
    .split(" "),
  "",
  "\\n",
);
const operator = fc.oneof(
  { weight: 3, arbitrary: fc.constant("") },
  fc.constantFrom("*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,3}?", "{2,}", "{0}", "{0,1}"),
);

/** Expressions with letters, sets, anchors, groups, alternatives and repetitions, nested. */
export const { pattern } = fc.letrec<{ pattern: string; item: string; group: string }>((tie) => ({
  pattern: fc.array(fc.array(tie("item"), { maxLength: 3 }), { minLength: 1, maxLength: 2 })
    .map((options) => options.map((items) => items.join("")).join("|")),
  item: fc.tuple(
    fc.oneof(
      { maxDepth: 3, depthIdentifier: "pattern", depthSize: "small", withCrossShrink: true },
      atom,
      tie("group"),
    ),
    operator,
  )
    // The repetition of an empty expression is an error, which the recorded cases cover.
    .map(([body, repeated]) => (body === "" ? "" : body + repeated)),
  group: fc.tuple(fc.constantFrom("(", "(", "(?:", "(?i:", "(?U:", "(?P<n>"), tie("pattern"))
    .map(([open, body]) => `${open}${body})`),
}));

/** Short texts of few letters, so that matches are likely. */
export const subject = fc.string({ maxLength: 8, unit: fc.constantFrom(..."aaaabbbcAB1 _é😀\n") });
