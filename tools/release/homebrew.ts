import { sha256 } from "./checksums.ts";
import { type Binary, type Document, downloadUrl, goPlatform, type Release } from "./release.ts";

const SYSTEMS = { darwin: "on_macos", linux: "on_linux" } as const;
const PROCESSORS: Readonly<Record<string, string>> = { amd64: "on_intel", arm64: "on_arm" };

/** Returns a formula for a Homebrew tap, for macOS and Linux. */
export function homebrewFormula(release: Release, archives: ReadonlyMap<Binary, Document>): string {
  const blocks = Object.entries(SYSTEMS).flatMap(([system, block]) => {
    const own = [...archives].filter(([{ platform }]) => goPlatform(platform).os === system);
    return own.length === 0
      ? []
      : [`  ${block} do`, ...own.flatMap((each) => processorBlock(release, each)), "  end", ""];
  });
  return [
    "class KubectlMesh < Formula",
    '  desc "Put workloads into an Istio mesh and check it"',
    `  homepage "${release.homepage}"`,
    `  version "${release.version}"`,
    '  license "Apache-2.0"',
    "",
    ...blocks,
    "  def install",
    '    bin.install "kubectl-mesh"',
    "    # kubectl runs a program with this name to complete.",
    '    bin.install_symlink "kubectl-mesh" => "kubectl_complete-mesh"',
    '    bash_completion.install "completions/kubectl-mesh.bash" => "kubectl-mesh"',
    '    zsh_completion.install "completions/_kubectl-mesh"',
    '    fish_completion.install "completions/kubectl-mesh.fish"',
    "  end",
    "",
    "  test do",
    '    assert_match "kubectl-mesh #{version}", shell_output("#{bin}/kubectl-mesh version --client")',
    "  end",
    "end",
    "",
  ].join("\n");
}

function processorBlock(release: Release, [{ platform }, { name, content }]: readonly [Binary, Document]): string[] {
  return [
    `    ${PROCESSORS[goPlatform(platform).arch]} do`,
    `      url "${downloadUrl(release, name)}"`,
    `      sha256 "${sha256(content)}"`,
    "    end",
  ];
}
