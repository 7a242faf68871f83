/** Advice to recreate lost objects of a control plane. Annotations of its remaining objects name the installer. */
import { LABEL } from "../../../istio/annotations/labels.ts";
import { mapAt, textAt, type ValueMap } from "../../../base/value.ts";
import type { Advice } from "../../advice/advice.ts";
import { type Installer, installerIn, type Lost, madeAgain } from "../../advice/installer.ts";
import { type Facts, forAdvice } from "../../facts.ts";
import { type ControlPlane, OURS } from "../../inventory/control_planes.ts";
import { injectorWebhooks } from "../../inventory/injector_webhooks.ts";
import type { Place } from "../../inventory/source.ts";
import { distinct } from "./injectors.ts";
import { riskWithout } from "./webhook_advice.ts";

/** A remaining object of a control plane, and its installer. */
interface Part {
  readonly revision: string;
  readonly namespace: string;
  readonly isOwn: boolean;
  readonly installer: Installer;
  readonly configuration: string | undefined;
  /** The Service of the control plane. */
  readonly service: Place;
  /** The Service port that the webhook configuration calls; `undefined` for a Deployment. */
  readonly port: number | undefined;
}

/** Returns advice to recreate the ConfigMaps of a control plane. */
export async function mapsAgain({ revision, names, own }: ControlPlane, facts: Facts): Promise<readonly Advice[]> {
  const { namespace } = names;
  const parts = (await partsOf(facts)).filter((part) => part.namespace === namespace && part.revision === revision);
  // If this program's webhook uses Istio's ConfigMaps, its installer does not create them.
  const all = parts.filter(({ isOwn }) => own !== undefined || !isOwn);
  return await advice(all, { kind: "ConfigMap", namespace }, facts);
}

/** Returns advice to recreate the Service of a webhook, or the Deployment behind the Service. */
export async function serverAgain(
  kind: "Service" | "Deployment",
  { namespace, name }: Place,
  facts: Facts,
): Promise<readonly Advice[]> {
  const parts = (await partsOf(facts)).filter((part) => part.namespace === namespace && part.isOwn === OURS.test(name));
  return await advice(parts, { kind, namespace }, facts);
}

/** Returns advice to recreate the webhook configurations of the scope's revision. */
export async function webhooksAgain(facts: Facts): Promise<readonly Advice[]> {
  const { revision } = facts.scope;
  const parts = (await partsOf(facts)).filter((part) => revision === undefined || part.revision === revision);
  return await advice(parts, { kind: "MutatingWebhookConfiguration", namespace: "" }, facts);
}

/** Returns advice to restore the original selectors of webhook configurations. */
export async function selectorsAgain(facts: Facts): Promise<readonly Advice[]> {
  const parts = (await partsOf(facts)).filter(({ configuration }) => configuration !== undefined);
  const found = await Promise.all(
    byInstaller(parts).map(async (same): Promise<readonly Advice[]> => {
      const all = await advice(same, { kind: "MutatingWebhookConfiguration", namespace: "" }, facts, true);
      const names = new Set(same.map(({ configuration }) => configuration));
      const risk = await riskWithout((configuration) => names.has(configuration), facts);
      return all.map((each) => ({ ...each, risk }));
    }),
  );
  return found.flat();
}

async function advice(parts: readonly Part[], lost: Lost, facts: Facts, isThere?: boolean): Promise<readonly Advice[]> {
  const all = await Promise.all(
    byInstaller(parts).flatMap(([part]) => part ?? []).map(async (part) => {
      const port = await portFor(part, lost, facts);
      return madeAgain(part.installer, { ...lost, port }, isThere) ?? [];
    }),
  );
  return all.flat();
}

/** The port that configurations call if the Service is lost, or the port of the Service if a configuration is lost. */
async function portFor({ service, port }: Part, { kind }: Lost, facts: Facts): Promise<number | undefined> {
  if (kind === "Service") return port;
  if (kind !== "MutatingWebhookConfiguration") return undefined;
  const [only, ...others] = (await forAdvice(facts.service(service)))?.spec?.ports ?? [];
  return others.length === 0 ? only?.port : undefined;
}

/** Groups parts by installer. This program's webhook comes first, because it may have replaced istiod's webhook. */
function byInstaller(parts: readonly Part[]): readonly (readonly Part[])[] {
  const ordered = [...parts.filter(({ isOwn }) => isOwn), ...parts.filter(({ isOwn }) => !isOwn)];
  return [...Map.groupBy(ordered, ({ installer }) => JSON.stringify(installer)).values()];
}

const ISTIOD = /^istiod(-|$)/;

/** Finds the webhook configurations and Deployments whose annotations name their installer. */
async function partsOf(facts: Facts): Promise<readonly Part[]> {
  const [configurations = [], workloads = []] = await Promise.all([
    forAdvice(facts.mutatingWebhooks()),
    forAdvice(facts.workloads()),
  ]);
  const called = configurations.flatMap((each) => {
    const targets = distinct(injectorWebhooks([each]), ({ target }) => target);
    return targets.flatMap(({ target, revision }) =>
      "url" in target
        ? []
        : partOf(target, { ...each.metadata }, { revision, configuration: each.metadata.name, port: target.port })
    );
  });
  const running = workloads.flatMap(({ kind, metadata }) => {
    const { name, namespace = "" } = metadata;
    const revision = textAt(mapAt(metadata, "labels"), LABEL.revision);
    return kind === "Deployment" && (OURS.test(name) || ISTIOD.test(name))
      ? partOf({ name, namespace }, metadata, { revision, configuration: undefined, port: undefined })
      : [];
  });
  return [...called, ...running];
}

/** Ignores annotations of other installers, because one webhook may have taken over the configuration of another. */
function partOf(
  { name, namespace }: Place,
  metadata: ValueMap,
  rest: Pick<Part, "revision" | "configuration" | "port">,
): readonly Part[] {
  const isOwn = OURS.test(name);
  const installer = installerIn(mapAt(metadata, "annotations"), isOwn);
  return installer === undefined ? [] : [{ namespace, isOwn, installer, service: { namespace, name }, ...rest }];
}
