/** The scripts of `completion`, in the shells, on a terminal. */
import assert from "node:assert/strict";
import { CHECKOUT } from "../../support/programs/cache.ts";
import { MESH_COMMAND, runMesh } from "../../support/programs/mesh.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";

const DRIVER = decodeURIComponent(new URL("./terminal.py", import.meta.url).pathname);

const KUBECONFIG = JSON.stringify({
  clusters: [{ name: "west", cluster: { server: "https://127.0.0.1:1" } }],
  contexts: [{ name: "arn:aws:west/1", context: { cluster: "west" } }, {
    name: "lab one",
    context: { cluster: "west" },
  }],
});

/** What is typed before Tab, and what stands there after it. */
const CASES: readonly (readonly [typed: string, completed: string])[] = [
  ["kubectl-mesh inj", "kubectl-mesh inject "],
  ["kubectl-mesh inject --report=ch", "kubectl-mesh inject --report=changed "],
  ["kubectl-mesh check --only webhook,kubernetes-a", "kubectl-mesh check --only webhook,kubernetes-api "],
  ["kubectl-mesh check injection statef", "kubectl-mesh check injection statefulset/"],
  ["kubectl-mesh check --context arn", "kubectl-mesh check --context arn:aws:west/1 "],
  ["kubectl-mesh check --context arn:aws:w", "kubectl-mesh check --context arn:aws:west/1 "],
  ["kubectl-mesh check --context=arn:a", "kubectl-mesh check --context=arn:aws:west/1 "],
  ["kubectl-mesh check --context l", "kubectl-mesh check --context lab\\ one "],
  ["kubectl-mesh inject -f we", "kubectl-mesh inject -f web.yaml "],
  ["kubectl-mesh inject -f fol", "kubectl-mesh inject -f folder/"],
  ["kubectl-mesh inject -k f", "kubectl-mesh inject -k folder/"],
  ["kubectl-mesh inject --values w", "kubectl-mesh inject --values web."],
  ["kubectl-mesh nothing w", "kubectl-mesh nothing w"],
  ["kubectl-mesh check injection $(touch ran) --report", "kubectl-mesh check injection $(touch ran) --report"],
];

/** In fish, a function of the shell completes paths, and only without `~`. */
const HOME_CASE = ["kubectl-mesh inject -f ~/fol", "kubectl-mesh inject -f ~/folder/"] as const;

interface Shell {
  readonly command: readonly string[];
  /** Loads a script; the terminal's line editor has Emacs's keys. */
  readonly setup: (script: string) => string;
  /** The shell's own form of what stands there. */
  readonly form?: (line: string) => string;
}

const SHELLS: Readonly<Record<string, Shell>> = {
  bash: { command: ["bash", "--norc", "-i"], setup: (script) => `set -o emacs; PS1=; source ${script}` },
  zsh: {
    command: ["zsh", "-f", "-i"],
    setup: (script) => `PS1=; bindkey -e; autoload -U compinit; compinit -u -D; source ${script}`,
    // The space and the slash that zsh added go when the cursor moves.
    form: (line) => line.replace(/ $|(?<=folder)\/$/, ""),
  },
  fish: { command: ["fish", "--no-config", "-i"], setup: (script) => `function fish_prompt; end; source ${script}` },
};

for (const [name, { command, setup, form = (line: string) => line }] of Object.entries(SHELLS)) {
  const missing = needsProgram(name) ?? needsProgram("python3");
  testWhen(missing, `${name} completes kubectl-mesh`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "mesh-completion-" });
    try {
      const { stdout, code } = await runMesh(["completion", name]);
      assert.equal(code, 0);
      for (const path of ["folder", "bin"]) await Deno.mkdir(`${folder}/${path}`);
      const files = { script: stdout, kubeconfig: KUBECONFIG, "web.yaml": "", "web.txt": "" };
      for (const [path, text] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${path}`, text);
      await Deno.symlink(MESH_COMMAND, `${folder}/bin/kubectl-mesh`);
      const cases = name === "fish" ? CASES : [...CASES, HOME_CASE];
      const typed = cases.map(([line]) => line);
      const read = await new Deno.Command("python3", {
        args: [DRIVER, setup(`${folder}/script`), ...typed, "--", ...command],
        cwd: folder,
        env: {
          PATH: `${folder}/bin:${Deno.env.get("PATH")}`,
          KUBECONFIG: `${folder}/kubeconfig`,
          HOME: folder,
          TERM: "dumb",
          MESH_COMPLETION_TIMEOUT: "1ms",
        },
        stdin: "null",
      }).output();
      const lines = new TextDecoder().decode(read.stdout).trimEnd().split("\n");
      assert.equal(new TextDecoder().decode(read.stderr), "");
      assert.deepEqual(lines, cases.map(([, line]) => form(line)));
      await assert.rejects(Deno.stat(`${folder}/ran`), Deno.errors.NotFound);
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}

const PARSE = "import sys, tree_sitter, tree_sitter_powershell as p\n" +
  "tree = tree_sitter.Parser(tree_sitter.Language(p.language())).parse(open(sys.argv[1], 'rb').read())\n" +
  "sys.exit(str(tree.root_node) if tree.root_node.has_error else 0)";

/** PowerShell itself is in no package registry that the tests reach. */
testWhen(await missingGrammar(), "the script of PowerShell follows its grammar", async () => {
  const args = ["-c", PARSE, `${CHECKOUT}/completions/kubectl-mesh.ps1`];
  const { code, stderr } = await new Deno.Command("python3", { args }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
});

async function missingGrammar(): Promise<string | undefined> {
  const missing = needsProgram("python3");
  if (missing !== undefined) return missing;
  const args = ["-c", "import tree_sitter, tree_sitter_powershell"];
  const { success } = await new Deno.Command("python3", { args, stderr: "null" }).output();
  return success ? undefined : "the Python packages tree-sitter and tree-sitter-powershell are not installed";
}
