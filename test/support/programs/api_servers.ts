/** Builds real kube-apiservers from public Go modules. */
import { goProgram } from "./go_program.ts";

const PACKAGE = "k8s.io/kubernetes/cmd/kube-apiserver";

/** The version that most tests use. */
export const KUBERNETES = "1.34.4";

/**
 * Folders with a Go module for each version. The Go module proxy has only some patch releases of some minor versions.
 */
const FOLDERS: Readonly<Record<string, string>> = {
  "1.29.6": "test/e2e/servers/kubernetes/1.29",
  "1.31.14": "test/e2e/servers/kubernetes/1.31",
  "1.33.13": "test/e2e/servers/kubernetes/1.33",
  [KUBERNETES]: "test/e2e/servers",
  "1.37.2": "test/e2e/servers/kubernetes/1.37",
};

/** All versions, oldest first. */
export const KUBERNETES_VERSIONS: readonly string[] = Object.keys(FOLDERS);

/** Builds an API server on first use, which takes minutes. */
export async function apiServerProgram(version = KUBERNETES): Promise<string> {
  const folder = FOLDERS[version] ?? "";
  if (version === KUBERNETES) return await goProgram(folder, PACKAGE);
  const [major = "", minor = ""] = version.split(".");
  const set = Object.entries({ gitVersion: `v${version}`, gitMajor: major, gitMinor: minor })
    .map(([name, value]) => `-X k8s.io/component-base/version.${name}=${value}`);
  // The Go module proxy lacks a module for cloud providers that 1.29 requires.
  return await goProgram(folder, PACKAGE, ["-tags=providerless", `-ldflags=-s -w ${set.join(" ")}`]);
}
