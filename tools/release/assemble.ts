import { archiveOf } from "./archive.ts";
import { checksums } from "./checksums.ts";
import { homebrewFormula } from "./homebrew.ts";
import { krewManifest } from "./krew.ts";
import { linuxPackages } from "./packages.ts";
import { type Builder, provenance } from "./provenance.ts";
import { type Binary, type Document, document, type Release } from "./release.ts";
import { type NpmPackage, sbom } from "./sbom.ts";

/** The inputs of {@link assemble}, besides the release. */
export interface Assembly {
  /** The checkout. */
  readonly root: string;
  /** A temporary folder that nothing else uses. */
  readonly work: string;
  /** The npm packages in the binaries. */
  readonly packages: readonly NpmPackage[];
  readonly builder: Builder;
  /** Additional files, such as the images. They are listed in the checksums and the provenance too. */
  readonly others: readonly Document[];
}

/**
 * Makes all files of a release: an archive of each binary, Linux packages, the bill of materials, the manifest for
 * krew, the formula for Homebrew, and the checksums and provenance of these files. The same input gives the same bytes.
 * Throws if nfpm cannot be built, or if it fails.
 */
export async function assemble(release: Release, assembly: Assembly): Promise<Document[]> {
  const { root, work, packages, builder, others } = assembly;
  const archives = new Map<Binary, Document>();
  for (const binary of release.binaries) archives.set(binary, await archiveOf(release, binary));
  const files = [
    ...archives.values(),
    ...await linuxPackages(release, root, work),
    document(`kubectl-mesh_${release.version}.cdx.json`, sbom(release, packages)),
    document("mesh.yaml", krewManifest(release, archives)),
    document("kubectl-mesh.rb", homebrewFormula(release, archives)),
    ...others,
  ];
  const lock = await Deno.readFile(`${root}/deno.lock`);
  const summed = document("checksums.txt", checksums(files));
  const statement = provenance(release, files, { builder, lock });
  return [...files, summed, document(`kubectl-mesh_${release.version}.intoto.json`, statement)];
}
