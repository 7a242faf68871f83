import { toYaml } from "../../src/yaml/mod.ts";
import { sha256 } from "./checksums.ts";
import { type Binary, type Document, downloadUrl, goPlatform, type Release } from "./release.ts";

/** The short description. Reviewers of krew's index do not accept a longer one. */
export const SHORT_DESCRIPTION = "Put workloads into an Istio mesh and check it";

const DESCRIPTION = `Writes manifests with Istio's sidecar, checks whether a cluster is ready for
the mesh and why a workload is or is not in it, draws where a connection goes,
and prints what runs the injection webhook. It works with the configurations
of Istio 1.0 to today, and keeps comments and order of the manifests.
`;

const CAVEATS = `Completion through kubectl 1.26 or later needs one more file on the PATH:
  kubectl mesh completion install-kubectl
On Linux the program needs glibc 2.27 or later; Alpine has none.
`;

/**
 * Returns the manifest for krew, the file `plugins/mesh.yaml` in an index. Each binary needs an archive in `archives`.
 */
export function krewManifest(release: Release, archives: ReadonlyMap<Binary, Document>): string {
  return toYaml({
    apiVersion: "krew.googlecontainertools.github.com/v1alpha2",
    kind: "Plugin",
    metadata: { name: "mesh" },
    spec: {
      version: `v${release.version}`,
      homepage: release.homepage,
      shortDescription: SHORT_DESCRIPTION,
      description: DESCRIPTION,
      caveats: CAVEATS,
      platforms: [...archives].map(([{ platform }, { name, content }]) => ({
        selector: { matchLabels: { ...goPlatform(platform) } },
        uri: downloadUrl(release, name),
        sha256: sha256(content),
        bin: `kubectl-mesh${platform.extension}`,
      })),
    },
  });
}
