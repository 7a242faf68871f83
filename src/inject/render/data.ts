/** Builds the root object of injection templates, with fields such as `.ObjectMeta`, `.Spec` and `.Values`. */
import { GoInt, GoStruct, type GoValue } from "../../golang/gotemplate/mod.ts";
import { OrderedFields } from "../../golang/go_json.ts";
import { goView } from "../../kube/mod.ts";
import { ANNOTATION, defaultProxyConfig, inboundTrafficPolicyMode, type MeshConfig } from "../../istio/mod.ts";
import { isMap, mapAt, newMap, textAt, type ValueMap } from "../../base/value.ts";
import { estimatedConcurrency } from "./concurrency.ts";
import { proxyImage, proxyInitImage } from "./image.ts";
import { annotation, metadataOf, type Pod, specOf } from "../pod/pod.ts";
import { viewOfMeshConfig, viewOfProxyConfig } from "./views.ts";
import type { Owner } from "../pod/workload.ts";

export interface TemplateInput {
  readonly minor: number;
  /** The pod and its owner, from {@link seenByTemplates}. */
  readonly seen: ValueMap;
  /** The mesh configuration. Its defaultConfig includes the pod's `proxy.istio.io/config`. */
  readonly mesh: MeshConfig;
  readonly values: ValueMap;
  /** Revision of the control plane; `""` for the control plane without a revision. */
  readonly revision: string;
  readonly nativeSidecars: boolean;
  readonly compliancePolicy: string;
  readonly proxyUid: number;
  readonly proxyGid: number;
  /** Returns whether rendering has exceeded its time limit. Absent: no limit. */
  readonly isLate?: (() => boolean) | undefined;
}

/** A Go struct for templates. The keys of `fields` are the struct's fields; a getter is called when a template reads the field. */
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

/** A Go struct that prints as `namespace/name`. */
class NamespacedName extends Fields {
  override text(): string {
    return `${this.fields["Namespace"]}/${this.fields["Name"]}`;
  }
}

/**
 * Returns what templates can read about a pod and its owner. The pod must not contain an earlier injection. Missing
 * labels and annotations become empty maps, so that the template function `index` returns `""` for missing keys.
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

/** Minor version of the first release in which `.DeploymentMeta` contains only the owner's namespace and name. */
export const KNOWS_NAMES = 22;

/** Returns the root object of templates. Its fields are computed when a template reads them. */
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
