/** Builds the root object of templates of Istio 1.0 to 1.8. */
import type { GoStruct } from "../../golang/gotemplate/mod.ts";
import { goView } from "../../kube/mod.ts";
import { defaultProxyConfig, type MeshConfig } from "../../istio/mod.ts";
import { newMap, type ValueMap } from "../../base/value.ts";
import { Fields } from "../render/data.ts";
import { metadataOf, type Pod, specOf } from "../pod/pod.ts";
import { viewOfMeshConfig, viewOfProxyConfig } from "../render/views.ts";
import { earlierOwner, type Owner } from "../pod/workload.ts";
import { has } from "./features.ts";

/** The inputs of a template of Istio 1.0 to 1.8. */
interface LegacyTemplateInput {
  /** The decoded pod, without the parts that an earlier injection added. */
  readonly pod: Pod;
  readonly owner: Owner;
  readonly mesh: MeshConfig;
  readonly values: ValueMap;
  readonly minor: number;
}

/** Returns the root object of templates, with the fields that the release provides. */
export function legacyTemplateData({ pod, mesh, values, minor, ...given }: LegacyTemplateInput): GoStruct {
  const owner = earlierOwner(given.owner, pod);
  const type = new Fields("*v1.TypeMeta", { Kind: owner.kind, APIVersion: owner.apiVersion });
  return new Fields("*inject.SidecarTemplateData", {
    ...(has(minor, "typeMeta") ? { TypeMeta: type } : {}),
    DeploymentMeta: goView(named(owner), "ObjectMeta"),
    ObjectMeta: goView(metadataOf(pod), "ObjectMeta"),
    Spec: goView(specOf(pod), "PodSpec"),
    ProxyConfig: viewOfProxyConfig(defaultProxyConfig(mesh)),
    MeshConfig: viewOfMeshConfig(mesh),
    ...(has(minor, "values") ? { Values: values } : {}),
  });
}

/** Builds the owner's metadata, which contains only name and namespace. */
function named({ name, namespace }: Owner): ValueMap {
  const metadata = newMap();
  if (name !== "") metadata["name"] = name;
  if (namespace !== "") metadata["namespace"] = namespace;
  return metadata;
}
