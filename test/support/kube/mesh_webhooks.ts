/** The objects that `webhook manifests` prints, as an API server returns them. */
import assert from "node:assert/strict";
import type { KubeObject } from "../../../src/kube/client/mod.ts";
import { isMap, type Value, type ValueMap } from "../../../src/base/value.ts";
import { parseDocument, splitText } from "../../../src/yaml/mod.ts";
import { type ManifestOptions, webhookManifests } from "../../../src/webhook/mod.ts";

/** Returns a webhook's MutatingWebhookConfigurations: one for its revision, and one for each tag. */
export function meshWebhooks(options: Partial<ManifestOptions> = {}): readonly KubeObject[] {
  return meshObjects(options).filter(({ kind }) => kind === "MutatingWebhookConfiguration");
}

/** Returns all objects of the webhook. */
export function meshObjects(options: Partial<ManifestOptions> = {}): readonly KubeObject[] {
  const manifests = webhookManifests({ image: "example.com/kubectl-mesh:1", ...options });
  return splitText(manifests, "").map((document) => parseDocument(document).value).map(asObject);
}

function asObject(value: Value): KubeObject {
  assert(isMap(value));
  const { apiVersion, kind, metadata, ...rest }: ValueMap = value;
  assert(typeof apiVersion === "string" && typeof kind === "string" && isMap(metadata));
  const { name, namespace, ...others } = metadata;
  assert(typeof name === "string");
  const named = typeof namespace === "string" ? { name, namespace } : { name };
  return { apiVersion, kind, metadata: { ...others, ...named }, ...rest };
}
