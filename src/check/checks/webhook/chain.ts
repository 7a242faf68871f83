/** Finds mutating webhooks that decode pods as old types, and so remove parts of a sidecar (istio #49054, #49221). */
import { LABEL } from "../../../istio/annotations/labels.ts";
import { mapAt, mapsAt, type Value, type ValueMap } from "../../../base/value.ts";
import { sameValue } from "../../../base/values/mod.ts";
import { allContainers, type Pod, PROXY, PROXY_UID, specOf } from "../../../inject/mod.ts";
import { type Advice, byHand, loosening } from "../../advice/advice.ts";
import type { Finding } from "../../check.ts";
import {
  type InjectorWebhook,
  injectorWebhooks,
  labelsOfObject,
  otherWebhooks,
  sendsPod,
} from "../../inventory/injector_webhooks.ts";
import { cannotTell, type Facts, inEach } from "../../facts.ts";
import type { SidecarNamespace } from "../../inventory/sidecars.ts";
import { findingOf, type Problem } from "../findings.ts";
import { NONE_INJECTED } from "../namespace_control_plane.ts";
import { amountsOf } from "../../policies/pod_resources.ts";
import { podToTry } from "../../inventory/dry_run.ts";
import { distinct } from "./injectors.ts";
import { entriesPatched } from "./webhook_advice.ts";

/** Tries a pod with a sidecar in one dry run for each set of webhooks that are called after the injector. */
export async function chainKeepsSidecar(facts: Facts): Promise<Finding> {
  const [configurations, sidecars] = await Promise.all([facts.mutatingWebhooks(), facts.sidecars()]);
  const injected = sidecars.filter(({ plane }) => plane !== undefined);
  if (injected.length === 0) return NONE_INJECTED;
  const first = injectorWebhooks(configurations)[0]?.configuration ?? "";
  const others = otherWebhooks(configurations)
    .filter(({ configuration, isReinvoked }) => isReinvoked || configuration > first);
  const problems = await inEach(bySuspects(injected, others), async (suspects) => {
    const { pod, message } = await facts.dryRunOf(suspects.namespace.name, probe());
    return pod === undefined ? cannotTell(message) : problemsOf(lostIn(pod), suspects);
  });
  return findingOf(problems);
}

interface Suspects {
  readonly culprits: readonly InjectorWebhook[];
  readonly namespace: SidecarNamespace;
}

function bySuspects(namespaces: readonly SidecarNamespace[], others: readonly InjectorWebhook[]): readonly Suspects[] {
  const found = namespaces.map((namespace): Suspects => {
    const labels = labelsOfObject(namespace.namespace);
    return { namespace, culprits: others.filter((each) => sendsPod(each, labels, INJECTED)) };
  });
  const key = ({ culprits }: Suspects) => culprits.map(({ configuration, name }) => `${configuration}/${name}`).join();
  return distinct(found, key).filter(({ culprits }) => culprits.length > 0);
}

function problemsOf(lost: readonly string[], { culprits, namespace: { name } }: Suspects): Problem[] {
  const [first] = culprits;
  if (lost.length === 0 || first === undefined) return [];
  const who = culprits.map((each) => `"${each.name}"`).join(" or ");
  return [{
    object: `mutatingwebhookconfiguration/${first.configuration}`,
    result: "error",
    message: `${who} removes or changes in injected pods of the namespace "${name}": ${lost.join(", ")}`,
    advice: [
      ...culprits.length === 1 ? [excluding(first)] : [],
      byHand("update that webhook, or exclude injected pods with its objectSelector", "webhook"),
      byHand("turn off native sidecars until that webhook is updated", "mesh"),
    ],
  }];
}

/** Advice to exclude injected pods from a later webhook. Its objectSelector sees the labels that injection has set. */
function excluding({ configuration, name, objectSelector }: InjectorWebhook): Advice {
  const notInjected = { key: LABEL.tlsMode, operator: "DoesNotExist" };
  const matchExpressions = [...objectSelector.matchExpressions ?? [], notInjected];
  const step = entriesPatched(configuration, [{ name, objectSelector: { matchExpressions } }]);
  return loosening("exclude injected pods from this webhook", "webhook", step);
}

const VOLUME = "istio-envoy";

/** A native sidecar, as in Istio's templates. */
const SIDECAR: ValueMap = {
  name: PROXY,
  image: "kubectl-mesh-check",
  restartPolicy: "Always",
  resources: { requests: { cpu: "10m", memory: "40Mi" }, limits: { cpu: "20m", memory: "80Mi" } },
  securityContext: {
    allowPrivilegeEscalation: false,
    capabilities: { drop: ["ALL"] },
    readOnlyRootFilesystem: true,
    runAsGroup: PROXY_UID,
    runAsNonRoot: true,
    runAsUser: PROXY_UID,
  },
  volumeMounts: [{ name: VOLUME, mountPath: "/etc/istio/proxy" }],
};

/** Labels that mark the pod as injected and prevent another injection. */
const INJECTED = { [LABEL.inject]: "false", [LABEL.tlsMode]: "istio" };

function probe(): object {
  const pod = podToTry(INJECTED);
  const volumes = [{ name: VOLUME, emptyDir: { medium: "Memory" } }];
  return { ...pod, spec: { ...pod.spec, initContainers: [SIDECAR], volumes } };
}

/** Lists the parts of the sidecar that other webhooks removed or changed. Ignores added defaults. */
function lostIn(pod: Pod): readonly string[] {
  const sidecar = allContainers(pod).find(({ name }) => name === PROXY);
  if (sidecar === undefined) return [`the container "${PROXY}"`];
  const security = mapAt(sidecar, "securityContext");
  const settings = Object.entries(mapAt(SIDECAR, "securityContext"));
  const amounts = amountsOf(sidecar);
  const isKept = ([key, value]: [string, Value]) => sameValue(security[key] ?? null, value);
  const lowered = [...amountsOf(SIDECAR)].filter(([name, milli]) => amounts.get(name) !== milli);
  return [
    ...sidecar["restartPolicy"] === SIDECAR["restartPolicy"] ? [] : ["restartPolicy"],
    ...settings.filter((each) => !isKept(each)).map(([key]) => `securityContext.${key}`),
    ...lowered.map(([name]) => `resources.${name}`),
    ...hasVolume(mapsAt(sidecar, "volumeMounts")) ? [] : ["volumeMounts"],
    ...hasVolume(mapsAt(specOf(pod), "volumes")) ? [] : ["volumes"],
  ];
}

function hasVolume(named: readonly ValueMap[]): boolean {
  return named.some(({ name }) => name === VOLUME);
}
