/** A case of our own: a manifest and settings that show one feature of injection. Istio's answers to them are recorded. */
import type { Value } from "../../../../src/base/value.ts";

/** Data of a manifest or of values. */
export type Data = { readonly [key: string]: Value };

/** What differs from the built-in configuration. */
export interface OwnCase {
  /** What it shows. Each case has another name. */
  readonly name: string;
  /** The cases of `../shared/cases/inject` that show the same. */
  readonly like: readonly string[];
  readonly manifest: string;
  /** Merged over the values, or the text in their place. */
  readonly values?: Data | string;
  /** The mesh configuration. */
  readonly mesh?: string;
  /** Added to the templates. */
  readonly templates?: Readonly<Record<string, string>>;
  /** The text in place of the injector's configuration. */
  readonly config?: string;
  /** Whether proxies are native sidecars; they are by default. */
  readonly native?: boolean;
  /** Istio ends in an error. */
  readonly fails?: boolean;
}

/** The parts of a pod template. */
export interface Parts {
  readonly annotations?: Data;
  readonly labels?: Data;
  /** Fields of the pod beside its containers. */
  readonly spec?: Data;
  readonly containers?: readonly Data[];
}

/** A container that a user wrote. */
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

/** A workload with a pod template, as data. */
export function workload(kind: string, parts: Parts = {}, metadata: Data = {}): Data {
  return {
    apiVersion: API_VERSIONS[kind] ?? "apps/v1",
    kind,
    metadata: { name: "shop", ...metadata },
    spec: { template: { metadata: podMetadata(parts), spec: podSpec(parts) } },
  };
}

/** A pod, as data. */
export function pod(parts: Parts = {}, metadata: Data = {}): Data {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "shop", ...podMetadata(parts), ...metadata },
    spec: podSpec(parts),
  };
}

/** Documents as a text. */
export function text(...objects: readonly Data[]): string {
  return objects.map((object) => `${JSON.stringify(object, null, 1)}\n`).join("---\n");
}

/** A Deployment as a text. */
export function deployment(parts: Parts = {}): string {
  return text(workload("Deployment", parts));
}
