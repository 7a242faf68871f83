/** The root object of injection templates: `.ObjectMeta`, `.Spec`, `.Values` and their siblings. */
import { GoInt, GoStruct, type GoValue, typed } from "../../core/gotemplate/mod.ts";
import { OrderedFields } from "../../core/gojson.ts";
import { goView } from "../../core/kube/mod.ts";
import { ANNOTATION, defaultProxyConfig, inboundTrafficPolicyMode, type MeshConfig } from "../../core/mesh/mod.ts";
import { mapAt, newMap, type ValueMap } from "../../core/value.ts";
import { proxyImage, proxyInitImage } from "./image.ts";
import { annotation, metadataOf, type Pod, specOf } from "../pod/pod.ts";
import { viewOfMeshConfig, viewOfProxyConfig } from "./views.ts";
import type { Owner } from "../document/workload.ts";

/** The inputs of a template. */
export interface TemplateInput {
  /** The pod without the parts of an earlier injection. */
  readonly pod: Pod;
  readonly owner: Owner;
  /** The mesh with the pod's `proxy.istio.io/config` in its defaultConfig. */
  readonly mesh: MeshConfig;
  readonly values: ValueMap;
  readonly revision: string;
  readonly nativeSidecars: boolean;
  readonly compliancePolicy: string;
  readonly proxyUid: number;
  readonly proxyGid: number;
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

/** The root object of templates; its views are made on access. */
export function templateData(input: TemplateInput): GoStruct {
  const { owner, pod, mesh } = input;
  const proxyConfig = defaultProxyConfig(mesh);
  const images = {
    values: input.values,
    proxyConfig: proxyConfig.data,
    annotatedType: annotation(pod, ANNOTATION.proxyImageType),
  };
  return new Fields("*inject.SidecarTemplateData", {
    TypeMeta: new Fields("v1.TypeMeta", { Kind: owner.kind, APIVersion: owner.apiVersion }),
    DeploymentMeta: new NamespacedName("types.NamespacedName", { Namespace: owner.namespace, Name: owner.name }),
    ObjectMeta: goView(stringMaps(metadataOf(pod)), "ObjectMeta"),
    Spec: goView(specOf(pod), "PodSpec"),
    ProxyConfig: viewOfProxyConfig(proxyConfig),
    MeshConfig: viewOfMeshConfig(mesh),
    Values: input.values,
    Revision: input.revision,
    NativeSidecars: input.nativeSidecars,
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

/** Labels and annotations as maps of strings, also if absent: `index` gives `""` for missing keys. */
function stringMaps(metadata: ValueMap): ValueMap {
  const result: ValueMap = Object.assign(newMap(), metadata);
  for (const key of ["labels", "annotations"]) {
    result[key] = typed(Object.assign(newMap(), mapAt(metadata, key)), "map[string]string");
  }
  return result;
}
