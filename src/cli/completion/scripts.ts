/** The shell scripts in `completions/`. Only `completion` loads this file. */
import bash from "../../../completions/kubectl-mesh.bash" with { type: "text" };
import fish from "../../../completions/kubectl-mesh.fish" with { type: "text" };
import powershell from "../../../completions/kubectl-mesh.ps1" with { type: "text" };
import zsh from "../../../completions/_kubectl-mesh" with { type: "text" };
import kubectl from "../../../completions/kubectl_complete-mesh" with { type: "text" };

export const SCRIPTS: Readonly<Record<"bash" | "zsh" | "fish" | "powershell", string>> = {
  bash,
  zsh,
  fish,
  powershell,
};

export const KUBECTL: string = kubectl;
