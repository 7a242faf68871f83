import { trimmedEnd } from "../../base/text/mod.ts";
import { EXIT, UsageError } from "../../base/errors.ts";
import { flag, type FlagGroups, variable } from "../../golang/flags/mod.ts";
import type { World } from "../../platform/world.ts";
import { command, type Input } from "../command.ts";

const SHELLS = ["bash", "zsh", "fish", "powershell"] as const;

const INSTALL_FLAGS = {
  "Flags": {
    dir: flag("--dir FOLDER", "Folder for the file", {
      completes: "folders",
      defaultDoc: "the folder of kubectl-mesh, otherwise a PATH folder in the home folder",
    }),
  },
} as const satisfies FlagGroups;

const INSTALL_KUBECTL = command({
  summary: "Install the completion of kubectl mesh for kubectl",
  description:
    "Write kubectl_complete-mesh beside kubectl-mesh, and print its path. kubectl 1.26 and newer runs this file " +
    "to complete kubectl mesh. A file from another program is not overwritten. kubectl's own completion must be " +
    "enabled: see kubectl completion --help.",
  examples: [
    { command: "kubectl mesh completion install-kubectl" },
    { command: "kubectl mesh completion install-kubectl --dir ~/.local/bin" },
  ],
  flags: INSTALL_FLAGS,
  exits: { ok: "the file exists", failed: "the file cannot be written", usage: true },
  run: install,
});

async function install(world: World, { flags: { dir } }: Input<typeof INSTALL_FLAGS>): Promise<number> {
  const { installForKubectl } = await import("../completion/install.ts");
  const { path, isNew, isOnPath } = await installForKubectl(
    world,
    dir === undefined ? undefined : trimmedEnd(dir, "/\\", 1),
  );
  if (!isOnPath) world.stderr.write("warning: The folder is not in PATH, so kubectl cannot find the file\n");
  if (!isNew) world.stderr.write("note: The file already exists\n");
  world.stdout.write(`${path}\n`);
  return EXIT.ok;
}

const FLAGS = {
  "Environment": {
    timeout: variable("MESH_COMPLETION_TIMEOUT", "Timeout of a completion's requests to the cluster", {
      default: "150ms",
    }),
  },
} as const satisfies FlagGroups;

export const COMPLETION = command({
  summary: "Print the completion script for a shell",
  description:
    "Print the script that completes kubectl-mesh in a shell. To complete kubectl mesh, use install-kubectl. " +
    "Names of namespaces, workloads, pods and revisions come from the cluster if the command connects to one. " +
    "Timeouts and errors of the cluster are silently ignored.",
  positional: { usage: "bash|zsh|fish|powershell", allowed: SHELLS },
  commands: { "install-kubectl": () => Promise.resolve(INSTALL_KUBECTL) },
  examples: [
    { command: 'eval "$(kubectl-mesh completion bash)"' },
    { command: 'kubectl-mesh completion zsh > "${fpath[1]}/_kubectl-mesh"' },
    { command: "kubectl-mesh completion fish > ~/.config/fish/completions/kubectl-mesh.fish" },
    { command: "kubectl-mesh completion powershell | Out-String | Invoke-Expression" },
  ],
  flags: FLAGS,
  exits: { ok: true, usage: true },
  run: print,
});

async function print(world: World, { args: [name, surplus] }: Input<typeof FLAGS>): Promise<number> {
  const hint = `use ${SHELLS.join(", ")} or install-kubectl`;
  if (name === undefined) throw new UsageError("No shell is named", { hint });
  if (surplus !== undefined) throw new UsageError(`Unexpected argument "${surplus}"`, { hint: "give only one shell" });
  const shell = SHELLS.find((each) => each === name);
  if (shell === undefined) throw new UsageError(`There is no completion for the shell "${name}"`, { hint });
  const { SCRIPTS } = await import("../completion/scripts.ts");
  world.stdout.write(SCRIPTS[shell]);
  return EXIT.ok;
}
