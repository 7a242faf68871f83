/** CRDs of the Gateway API that this Istio does not read, and those from a later release. */
import assert from "node:assert/strict";
import type { ValueMap } from "../../../../src/base/value.ts";
import { removed } from "../../support/cluster/requests.ts";
import type { Breakage, Expected } from "./breaking.ts";

const GROUP = "gateway.networking.k8s.io";

interface Release {
  readonly bundle: string;
  readonly versions: readonly string[];
}

/** A CRD of the Gateway API without a full schema. */
export function gatewayCrd(kind: string, { bundle, versions }: Release): ValueMap {
  const [singular, plural] = [kind.toLowerCase(), `${kind.toLowerCase()}s`];
  const schema = { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } };
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: {
      name: `${plural}.${GROUP}`,
      // The API server requires this annotation in API groups of Kubernetes.
      annotations: { [`${GROUP}/bundle-version`]: bundle, "api-approved.kubernetes.io": "https://example.com/1" },
    },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: { kind, singular, plural },
      versions: versions.map((name, index) => ({ name, served: true, storage: index === 0, schema })),
    },
  };
}

/** Simulates a user who downloads the release in the advice and applies it. */
function ofRelease(kind: string, release: Release, later: Release, expected: Expected): Breakage {
  return {
    make: (mesh) => mesh.apply(gatewayCrd(kind, release)),
    heal: ({ cluster }) => removed(cluster, gatewayCrd(kind, release)),
    outside(report) {
      assert.match(report, new RegExp(`\\nfix: apply the CRDs of the Gateway API ${later.bundle} or later$`));
    },
    reacts: (mesh) => mesh.apply(gatewayCrd(kind, later)),
    ...expected,
  };
}

/** Problems with CRDs, by name. */
export const GATEWAY_CRDS: Readonly<Record<string, Breakage>> = {
  "a CRD of the Gateway API that no Istio reads": ofRelease(
    "Gateway",
    { bundle: "v0.4.3", versions: ["v1alpha2"] },
    { bundle: "v1.0.0", versions: ["v1alpha2", "v1beta1", "v1"] },
    {
      expect: { "api-gateway-crds": "error" },
      says: /gateways\.\S+: it serves v1alpha2, and Istio reads v1, or v1beta1/,
    },
  ),
  "a CRD of the Gateway API that Istio ignores": ofRelease(
    "TLSRoute",
    { bundle: "v1.4.1", versions: ["v1alpha2"] },
    { bundle: "v1.5.0", versions: ["v1alpha2", "v1"] },
    { expect: { "api-gateway-crds": "warning" }, says: /tlsroutes\.\S+: it comes from the Gateway API v1\.4\.1/ },
  ),
};
