/** One of our own cases: a manifest and settings that show one feature of injection. Istio's answers are recorded. */
import type { Value } from "../../../../src/base/value.ts";

/** Data for a manifest or for values. */
export type Data = { readonly [key: string]: Value };

/** A case, with its differences from the built-in configuration. */
export interface OwnCase {
  /** The feature that the case shows. Names are unique. */
  readonly name: string;
  /** Cases in `../shared/cases/inject` that show the same feature. */
  readonly like: readonly string[];
  readonly manifest: string;
  /** Values to merge over the built-in ones, or a text that replaces them. */
  readonly values?: Data | string;
  /** The text of the mesh configuration. */
  readonly mesh?: string;
  /** Additional templates by name. */
  readonly templates?: Readonly<Record<string, string>>;
  /** A text that replaces the injector's configuration. */
  readonly config?: string;
  /** Whether proxies are native sidecars; true by default. */
  readonly native?: boolean;
  /** Whether Istio fails with an error. */
  readonly fails?: boolean;
}

/** Parts of a pod template. */
export interface Parts {
  readonly annotations?: Data;
  readonly labels?: Data;
  /** Fields of the pod besides its containers. */
  readonly spec?: Data;
  readonly containers?: readonly Data[];
}

/** An application's container, as a user writes it. */
export const APP: Data = {
  name: "shop",
  image: "example.com/shop:2",
  ports: [{ name: "web", containerPort: 8000 }],
};

function podSpec({ spec = {}, containers = [APP] }: Parts): Data {
  return { ...spec, containers: [...containers] };
}

function podMetadata({ annotations, labels = { app: "shop" } }: Parts): Data {
  return { ...annotations === undefined ? {} : { annotations }, labels };
}

const API_VERSIONS: Readonly<Record<string, string>> = {
  Job: "batch/v1",
  ReplicationController: "v1",
  DeploymentConfig: "apps.openshift.io/v1",
};

/** Returns a workload with a pod template, as data. */
export function workload(kind: string, parts: Parts = {}, metadata: Data = {}): Data {
  return {
    apiVersion: API_VERSIONS[kind] ?? "apps/v1",
    kind,
    metadata: { name: "shop", ...metadata },
    spec: { template: { metadata: podMetadata(parts), spec: podSpec(parts) } },
  };
}

/** Returns a pod, as data. */
export function pod(parts: Parts = {}, metadata: Data = {}): Data {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "shop", ...podMetadata(parts), ...metadata },
    spec: podSpec(parts),
  };
}

/** Returns documents as text. */
export function text(...objects: readonly Data[]): string {
  return objects.map((object) => `${JSON.stringify(object, null, 1)}\n`).join("---\n");
}

/** Returns a Deployment as text. */
export function deployment(parts: Parts = {}): string {
  return text(workload("Deployment", parts));
}
