/** Explains injection of workloads, with or without a cluster. */
import { atOnce } from "../../base/at_once.ts";
import type { KubeApi } from "../../kube/client/mod.ts";
import type { World } from "../../platform/mod.ts";
import {
  type ClusterChoice,
  configurationOf,
  type GivenConfiguration,
  type InjectionSnapshot,
  type Injector,
  nativeChoice,
  type NativeOption,
  newInjector,
  type RulesOff,
  type TemplateEnv,
} from "../../inject/mod.ts";
import { allTargets, type AllWorkloads } from "./all_targets.ts";
import { oncePerKey } from "../inventory/observed.ts";
import { explain, explainUnjudged, type Explanation } from "./explanation.ts";
import { clusterKnowledge, offlineKnowledge } from "./knowledge.ts";
import { manifestTargets, type ManifestTexts, type Unjudged } from "./manifest_targets.ts";
import { clusterTarget, type Target } from "./target.ts";

export interface InjectionQuestion {
  readonly workload?: string | undefined;
  readonly all?: AllWorkloads | undefined;
  readonly inputs?: readonly ManifestTexts[];
  /** Namespace of workloads that do not name a namespace. */
  readonly namespace: string;
  /** The user's choice of the control plane: revision, namespace, and names of ConfigMaps. */
  readonly choice: ClusterChoice;
  /** Replaces the cluster's configuration. Without a cluster, the default is the built-in configuration. */
  readonly configuration: GivenConfiguration;
  /** Istio release of the given configuration; `undefined` to detect the release from the format. */
  readonly istioVersion?: string | undefined;
  /** The user's choice about native sidecars; `undefined` lets the configuration and the nodes decide. */
  readonly nativeSidecars?: NativeOption | undefined;
  /** Rules that the user turns off. */
  readonly rulesOff?: RulesOff | undefined;
  /** Environment variables for the templates of the given configuration. */
  readonly templateEnv?: TemplateEnv | undefined;
  /** The snapshot that the API serves; `undefined` for a cluster. */
  readonly snapshot?: InjectionSnapshot | undefined;
}

/** Maximum number of workloads to explain concurrently. Each may need a dry run. */
const AT_ONCE = 8;

/**
 * Explains each workload, and each document that cannot be parsed. Without an API, assumes that one webhook is called.
 * Throws errors of the API, and a MeshError for a missing workload or an invalid configuration.
 */
export async function explainInjection(
  world: World,
  api: KubeApi | undefined,
  question: InjectionQuestion,
): Promise<readonly Explanation[]> {
  const targets = await targetsOf(api, question);
  const given = await givenInjector(world, question, api === undefined);
  const { choice, workload, all, snapshot, nativeSidecars } = question;
  const native = nativeChoice(nativeSidecars, world.env.get("ENABLE_NATIVE_SIDECARS"));
  const wantsPods = (workload ?? all) !== undefined;
  const knowledgeOf = api === undefined
    ? () => offlineKnowledge(given)
    : oncePerKey(clusterKnowledge({ api, clock: world.clock, choice, given, native, wantsPods, snapshot }));
  return await atOnce(targets, AT_ONCE, async (target) => {
    if ("verdict" in target) return explainUnjudged(target);
    return await explain(target, await knowledgeOf(target.namespace), question.rulesOff);
  });
}

async function targetsOf(
  api: KubeApi | undefined,
  question: InjectionQuestion,
): Promise<readonly (Target | Unjudged)[]> {
  const { workload, inputs = [], namespace, all } = question;
  if (all !== undefined && api !== undefined) return await allTargets(api, all);
  if (workload !== undefined && api !== undefined) return [await clusterTarget(api, workload, namespace)];
  return await manifestTargets(inputs, namespace);
}

/** The injector of the given files, or the built-in one without a cluster; `undefined` to use the cluster's. */
async function givenInjector(
  world: World,
  question: InjectionQuestion,
  isOffline: boolean,
): Promise<Injector | undefined> {
  const { configuration, choice, istioVersion, nativeSidecars, templateEnv } = question;
  const isGiven = Object.values(configuration).some((part) => part !== undefined);
  if (!isGiven && !isOffline) return undefined;
  return await newInjector({
    revision: choice.revision,
    istioVersion,
    ...configurationOf({ ...configuration, revision: choice.revision }),
    nativeSidecars,
    byHand: false,
    env: (name) => world.env.get(name),
    templateEnv,
    now: () => world.clock.now(),
  });
}
