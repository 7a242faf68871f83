import { Contrib, Enums, Models, Serialize, Spec } from "@cyclonedx/cyclonedx-library";
import { RUNTIME_VERSION } from "../compile/platforms.ts";
import { sha256 } from "./checksums.ts";
import type { Release } from "./release.ts";

/** An npm package that is part of the program. */
export interface NpmPackage {
  /** `@scope/name` or `name`. */
  readonly name: string;
  readonly version: string;
  /** The licence in its package.json: an SPDX identifier or expression; `undefined` if there is none. */
  readonly license: string | undefined;
  /** The checksum in the format of npm and deno.lock: `sha512-BASE64`. */
  readonly integrity: string | undefined;
}

/**
 * Returns a bill of materials in CycloneDX 1.6 JSON, for the program with Deno and the npm packages. The same release
 * gives the same bytes.
 */
export function sbom({ version, source, homepage }: Release, packages: readonly NpmPackage[]): string {
  const bom = new Models.Bom({ serialNumber: serialNumber(`${version} ${source.commit}`) });
  bom.metadata.timestamp = new Date(source.seconds * 1000);
  const program = component(Enums.ComponentType.Application, {
    name: "kubectl-mesh",
    version,
    license: "Apache-2.0",
    purl: `pkg:generic/kubectl-mesh@${version}`,
  });
  program.externalReferences.add(new Models.ExternalReference(homepage, Enums.ExternalReferenceType.Website));
  const deno = component(Enums.ComponentType.Platform, {
    name: "deno",
    version: RUNTIME_VERSION,
    license: "MIT",
    purl: `pkg:github/denoland/deno@v${RUNTIME_VERSION}`,
  });
  bom.metadata.component = program;
  for (const each of [deno, ...packages.map(ofPackage)]) {
    bom.components.add(each);
    program.dependencies.add(each.bomRef);
  }
  const serializer = new Serialize.JsonSerializer(new Serialize.JSON.Normalize.Factory(Spec.Spec1dot6));
  return `${serializer.serialize(bom, { sortLists: true, space: 2 })}\n`;
}

function ofPackage({ name, version, license, integrity }: NpmPackage): Models.Component {
  const purl = `pkg:npm/${name.replace(/^@/, "%40")}@${version}`;
  const made = component(Enums.ComponentType.Library, { name, version, license, purl });
  const [, hash] = /^sha512-(.+)$/.exec(integrity ?? "") ?? [];
  if (hash !== undefined) made.hashes.set(Enums.HashAlgorithm["SHA-512"], Uint8Array.fromBase64(hash).toHex());
  return made;
}

function component(
  type: Enums.ComponentType,
  { name, version, license, purl }: Pick<NpmPackage, "name" | "version" | "license"> & { readonly purl: string },
): Models.Component {
  const made = new Models.Component(type, name, { version, purl, bomRef: purl });
  if (license !== undefined) made.licenses.add(licenses.makeFromString(license));
  return made;
}

/** A licence with an operator is an expression; any other text is an identifier or a name. */
const licenses = new Contrib.License.Factories.LicenseFactory((text) => {
  if (!/ (OR|AND|WITH) /.test(text)) throw new Error(`No expression: "${text}"`);
});

/** Returns a UUID (version 8, RFC 9562) that depends only on the text. */
function serialNumber(text: string): string {
  const digits = sha256(new TextEncoder().encode(text));
  const parts = [digits.slice(0, 8), digits.slice(8, 12), `8${digits.slice(13, 16)}`, `8${digits.slice(17, 20)}`];
  return `urn:uuid:${[...parts, digits.slice(20, 32)].join("-")}`;
}
