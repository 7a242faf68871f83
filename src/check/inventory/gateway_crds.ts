/** Reads the CRDs of the Gateway API. */
import { mapAt, mapsAt, textAt } from "../../base/value.ts";
import type { KubeObject } from "../../kube/client/mod.ts";
import { gatewayCrdKeeper } from "./kept_fields.ts";
import { joined, mapKnown, type Observed, once } from "./observed.ts";
import { listOf, type Source } from "./source.ts";

/** Plural names of the kinds whose version matters to Istio. */
const PLURALS = [
  "gateways",
  "gatewayclasses",
  "httproutes",
  "grpcroutes",
  "referencegrants",
  "backendtlspolicies",
  "tlsroutes",
  "tcproutes",
] as const;

export type GatewayPlural = typeof PLURALS[number];

export interface GatewayCrd {
  readonly plural: GatewayPlural;
  readonly name: string;
  readonly served: readonly string[];
  /** The Gateway API release that contains the CRD; `""` if the annotation is missing. */
  readonly bundle: string;
}

export const GATEWAY_GROUP = "gateway.networking.k8s.io";

/** Annotation of a CRD with its Gateway API release. */
export const BUNDLE = `${GATEWAY_GROUP}/bundle-version`;

export const GATEWAY_CRDS: readonly string[] = PLURALS.map(nameOf);

export function gatewayInventory(source: Source) {
  return {
    /** Requests each CRD by name: a list of all CRDs would be megabytes, and would need the right to list all. */
    gatewayCrds: once(async (): Promise<Observed<readonly GatewayCrd[]>> => {
      const lists = PLURALS.map(async (plural) => {
        const query = { fieldSelector: `metadata.name=${nameOf(plural)}` };
        const listing = { isKind: isCrd, query, keep: gatewayCrdKeeper() };
        const list = await listOf(source, "apis/apiextensions.k8s.io/v1", "customresourcedefinitions", listing);
        return mapKnown(list, (crds) => crds.map((crd) => read(plural, crd)));
      });
      return joined(await Promise.all(lists));
    }),
  };
}

function nameOf(plural: GatewayPlural): string {
  return `${plural}.${GATEWAY_GROUP}`;
}

const isCrd = (object: KubeObject): object is KubeObject => object.kind === "CustomResourceDefinition";

function read(plural: GatewayPlural, { metadata, spec = null }: KubeObject): GatewayCrd {
  const versions = mapsAt(mapAt({ spec }, "spec"), "versions").filter(({ served }) => served === true);
  const bundle = textAt(mapAt(metadata, "annotations"), BUNDLE);
  return { plural, name: metadata.name, served: versions.map((version) => textAt(version, "name")), bundle };
}
