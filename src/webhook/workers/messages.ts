/** What workers answer from besides the review, as they are told it: the configuration, and what is known of the cluster. */
import type { Injector, NativeNodes } from "../../inject/mod.ts";
import { textsOf } from "../sources/injector_of.ts";
import type { ProxyConfigs } from "../review/mod.ts";
import { encodeFrame, type Frame } from "./frames.ts";

/** Users and groups that OpenShift gave to the pods of namespaces, by namespace: the annotations that tell them. */
export type NamespaceUsers = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** What is known of a cluster, as JSON has it. */
export interface ClusterSnapshot {
  readonly proxyConfigs: ProxyConfigs["resources"];
  readonly namespaces: NamespaceUsers;
  readonly nodes: NativeNodes | undefined;
}

/** What reviews are answered from at this moment. */
export interface Facts {
  readonly injector: Injector;
  readonly proxyConfigs: ProxyConfigs | undefined;
  /** The same object as long as nothing has changed. */
  readonly namespaces: NamespaceUsers;
  /** Likewise. */
  readonly nodes: NativeNodes | undefined;
}

/** Messages that bring a worker up to date. */
export type Told = Readonly<Record<"configuration" | "cluster", Uint8Array<ArrayBuffer>>>;

/** Makes the messages for facts: the same objects as long as the facts are the same. */
export function teller(): (facts: Facts) => Told {
  const configuration = remembered(({ injector }: Facts) => [injector], (facts) => textsOf(facts.injector));
  const cluster = remembered(
    ({ proxyConfigs, namespaces, nodes }: Facts) => [proxyConfigs, namespaces, nodes],
    ({ proxyConfigs, namespaces, nodes }): ClusterSnapshot => ({
      proxyConfigs: proxyConfigs?.resources ?? [],
      namespaces,
      nodes,
    }),
  );
  return (facts) => ({
    configuration: configuration("configuration", facts),
    cluster: cluster("cluster", facts),
  });
}

function remembered(partsOf: (facts: Facts) => readonly unknown[], contentOf: (facts: Facts) => object) {
  let known: { readonly parts: readonly unknown[]; readonly message: Uint8Array<ArrayBuffer> } | undefined;
  return (kind: Frame["kind"], facts: Facts) => {
    const parts = partsOf(facts);
    if (known === undefined || parts.some((part, index) => part !== known?.parts[index])) {
      known = { parts, message: encodeFrame({ kind, head: JSON.stringify(contentOf(facts)) }) };
    }
    return known.message;
  };
}
