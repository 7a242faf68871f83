import assert from "node:assert/strict";
import { examplesOf, isShown, withOutputs } from "../support/docs_page.ts";

const PAGE = `# A page

\`\`\`yaml file=a.yaml
a: 1
\`\`\`

\`\`\`
$ not run
\`\`\`

\`\`\`console run helm
$ cat a.yaml
a: 1
$ cat <<X
> b
> X
...
b
$ true
\`\`\`
`;

Deno.test("examplesOf() finds files and commands, in order", () => {
  assert.deepEqual(examplesOf(PAGE), [
    { file: "a.yaml", text: "a: 1\n" },
    { command: "cat a.yaml", output: "a: 1\n", needs: ["helm"], fails: false, line: 12 },
    { command: "cat <<X\nb\nX", output: "...\nb\n", needs: ["helm"], fails: false, line: 14 },
    { command: "true", output: "", needs: ["helm"], fails: false, line: 19 },
  ]);
});

Deno.test("examplesOf() knows the commands that must fail", () => {
  const [example] = examplesOf("```console run cluster fails\n$ false\n```\n");
  assert.deepEqual(example, { command: "false", output: "", needs: ["cluster"], fails: true, line: 2 });
});

Deno.test("isShown() takes any lines for dots, and nothing else", () => {
  const rows: readonly [string, string, boolean][] = [
    ["a.\n", "a.\n", true],
    ["a.\n", "ab\n", false],
    ["a\n...\n", "a\nb\nc\n", true],
    ["...\nc\n", "c\n", true],
    ["a\n...\nc\n", "a\nb\n", false],
    ["", "a\n", false],
  ];
  for (const [shown, printed, expected] of rows) assert.equal(isShown(shown, printed), expected, shown);
});

Deno.test("withOutputs() writes what commands print, but not in place of dots", () => {
  const page = withOutputs(PAGE, new Map([[12, "x\ny\n"], [14, "z\n"], [19, "t\n"]]));
  assert.equal(page, PAGE.replace("$ cat a.yaml\na: 1\n", "$ cat a.yaml\nx\ny\n").replace("$ true\n", "$ true\nt\n"));
});
