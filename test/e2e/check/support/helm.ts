/**
 * A stand-in for `helm get manifest`, so that Helm does not have to be built. It reads the release from its Secret, as
 * Helm does (Helm, pkg/storage/driver: base64 of gzipped JSON).
 */
import assert from "node:assert/strict";
import { mapAt, textAt, type Value, type ValueMap } from "../../../../src/base/value.ts";
import { toYaml } from "../../../../src/yaml/mod.ts";
import type { Cluster } from "../../support/cluster/cluster.ts";
import { got } from "../../support/cluster/requests.ts";

/** Makes the Secret of a release with these objects. */
export async function releaseOf(name: string, namespace: string, objects: readonly Value[]): Promise<ValueMap> {
  const manifest = objects.map((each) => `---\n${toYaml(each)}`).join("");
  const json = new Blob([JSON.stringify({ name, namespace, version: 1, manifest })]);
  const zipped = await new Response(json.stream().pipeThrough(new CompressionStream("gzip"))).bytes();
  const release = btoa(zipped.toBase64());
  const metadata = { name: secretName(name), namespace, labels: { owner: "helm", name, status: "deployed" } };
  return { apiVersion: "v1", kind: "Secret", type: "helm.sh/release.v1", metadata, data: { release } };
}

function secretName(release: string): string {
  return `sh.helm.release.v1.${release}.v1`;
}

/**
 * Returns a shell function `helm` that prints the manifest of the release in the command; `""` if the command does not
 * call helm.
 */
export async function helmFor(cluster: Cluster, command: string): Promise<string> {
  const [, words = "", name = "", namespace = ""] = /\bhelm (get manifest (\S+) -n (\S+))/.exec(command) ?? [];
  if (words === "") return "";
  const { data } = await got(cluster, `/api/v1/namespaces/${namespace}/secrets/${secretName(name)}`);
  const zipped = Uint8Array.fromBase64(atob(textAt(mapAt({ data: data ?? null }, "data"), "release")));
  const unzipped = new Blob([zipped]).stream().pipeThrough(new DecompressionStream("gzip"));
  const { manifest } = await new Response(unzipped).json();
  assert(typeof manifest === "string");
  return `helm() { [ "$*" = "${words}" ] && cat <<'MANIFEST'\n${manifest}\nMANIFEST\n}\n`;
}
