/** The root object of injection templates: `.ObjectMeta`, `.Spec`, `.Values` and their siblings. */
import { GoInt, GoStruct, type GoValue } from "../../golang/gotemplate/mod.ts";
import { OrderedFields } from "../../golang/gojson/mod.ts";
import { goView } from "../../kube/mod.ts";
import { ANNOTATION, defaultProxyConfig, inboundTrafficPolicyMode, type MeshConfig } from "../../istio/mod.ts";
import { isMap, mapAt, newMap, textAt, type ValueMap } from "../../base/value.ts";
import { estimatedConcurrency } from "./concurrency.ts";
import { proxyImage, proxyInitImage } from "./image.ts";
import { annotation, metadataOf, type Pod, specOf } from "../pod/pod.ts";
import { viewOfMeshConfig, viewOfProxyConfig } from "./views.ts";
import type { Owner } from "../pod/workload.ts";

/** The inputs of a template. */
export interface TemplateInput {
  /** The release 1.`minor` of the configuration. */
  readonly minor: number;
  /** The result of {@link seenByTemplates}. */
  readonly seen: ValueMap;
  /** The mesh with the pod's `proxy.istio.io/config` in its defaultConfig. */
  readonly mesh: MeshConfig;
  readonly values: ValueMap;
  readonly revision: string;
  readonly nativeSidecars: boolean;
  readonly compliancePolicy: string;
  readonly proxyUid: number;
  readonly proxyGid: number;
  /** Whether the templates take too long. */
  readonly isLate?: (() => boolean) | undefined;
}

/** A Go struct from an object whose keys are its fields. A template's access to a field calls its getter. */
export class Fields extends GoStruct {
  constructor(override readonly goType: string, readonly fields: Readonly<Record<string, GoValue>>) {
    super();
  }

  override get(name: string): GoValue | undefined {
    return Object.hasOwn(this.fields, name) ? this.fields[name] : undefined;
  }

  override fieldNames(): readonly string[] {
    return Object.keys(this.fields);
  }

  override toJSONValue(): GoValue {
    return new OrderedFields(Object.entries(this.fields));
  }
}

/** Printed as `namespace/name`. */
class NamespacedName extends Fields {
  override text(): string {
    return `${this.fields["Namespace"]}/${this.fields["Name"]}`;
  }
}

/**
 * The view that templates have of a pod (without an earlier injection) and its owner. Absent labels and annotations are empty
 * maps: `index` gives `""` for missing keys.
 */
export function seenByTemplates(pod: Pod, { kind, apiVersion, namespace, name, metadata: of }: Owner): ValueMap {
  const metadata: ValueMap = Object.assign(newMap(), metadataOf(pod));
  for (const key of ["labels", "annotations"]) if (!isMap(metadata[key])) metadata[key] = NO_STRINGS;
  const owner: ValueMap = Object.assign(newMap(), of);
  owner["kind"] = kind;
  owner["apiVersion"] = apiVersion;
  owner["namespace"] = namespace;
  owner["name"] = name;
  const seen = newMap();
  seen["metadata"] = metadata;
  seen["spec"] = specOf(pod);
  seen["owner"] = owner;
  return seen;
}

const NO_STRINGS = Object.freeze(newMap());

/** The first release whose templates see of the owner only its names. */
export const KNOWS_NAMES = 22;

/** The root object of templates; its views are made on access. */
export function templateData(input: TemplateInput): GoStruct {
  const { seen, mesh } = input;
  const owner = mapAt(seen, "owner");
  const proxyConfig = defaultProxyConfig(mesh);
  const images = {
    values: input.values,
    proxyConfig: proxyConfig.data,
    annotatedType: annotation(seen, ANNOTATION.proxyImageType),
  };
  return new Fields("*inject.SidecarTemplateData", {
    TypeMeta: new Fields("v1.TypeMeta", {
      Kind: textAt(owner, "kind"),
      APIVersion: textAt(owner, "apiVersion"),
    }),
    DeploymentMeta: input.minor < KNOWS_NAMES
      ? goView(owner, "ObjectMeta")
      : new NamespacedName("types.NamespacedName", {
        Namespace: textAt(owner, "namespace"),
        Name: textAt(owner, "name"),
      }),
    ObjectMeta: goView(mapAt(seen, "metadata"), "ObjectMeta"),
    Spec: goView(mapAt(seen, "spec"), "PodSpec"),
    ProxyConfig: viewOfProxyConfig(proxyConfig),
    MeshConfig: viewOfMeshConfig(mesh),
    Values: input.values,
    Revision: input.revision,
    NativeSidecars: input.nativeSidecars,
    get EstimatedConcurrency() {
      return BigInt(estimatedConcurrency(seen, proxyConfig.data, input.values));
    },
    get ProxyImage() {
      return proxyImage(images);
    },
    get ProxyInitImage() {
      return proxyInitImage(images);
    },
    ProxyUID: new GoInt(BigInt(input.proxyUid), "int64"),
    ProxyGID: new GoInt(BigInt(input.proxyGid), "int64"),
    InboundTrafficPolicyMode: inboundTrafficPolicyMode(mesh),
    CompliancePolicy: input.compliancePolicy,
  });
}
