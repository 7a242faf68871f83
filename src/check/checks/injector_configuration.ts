/** The category injector-configuration: checks the ConfigMaps of the control planes. */
import { errorLine, MeshError } from "../../base/errors.ts";
import { parseMeshConfig } from "../../istio/mod.ts";
import { type ClusterConfiguration, configurationOf, type Injector, newInjector } from "../../inject/mod.ts";
import { byHand, harmless } from "../advice/advice.ts";
import { edit, type Named } from "../advice/commands.ts";
import type { CheckRow, Finding } from "../check.ts";
import { cannotTell, type Facts, inEach, known, later } from "../facts.ts";
import { breakOf, isKnown } from "../inventory/mod.ts";
import { asControlPlane, type ObservedPlane, type PlaneTexts } from "../inventory/control_planes.ts";
import { mapsAgain } from "./webhook/again.ts";
import { type AdviceFor, findingOf, type Problem } from "./findings.ts";

type Judge = (texts: PlaneTexts, plane: ObservedPlane, clock: Facts["clock"]) => readonly Problem[];

interface Row extends Omit<CheckRow, "run"> {
  /** Judges the ConfigMaps. If `undefined`, the check only requires that they exist. */
  readonly judge?: Judge;
  readonly advice: AdviceFor;
}

const PRESENT = "injector-config-present";

const CORRECT = (map: Named) => [
  harmless("correct the field that the message names, then run the check again", "mesh", edit(map)),
  byHand("write the ConfigMap again with the tool that installed the control plane", "mesh"),
];

const ELSEWHERE = [
  byHand("name the control plane with --istioNamespace and --revision", "nothing"),
  byHand("install the control plane again", "mesh"),
];

const ROWS: readonly Row[] = [
  { id: PRESENT, title: "control plane ConfigMaps exist", advice: [] },
  {
    id: "injector-config-valid",
    title: "injector configuration and values are valid",
    needs: [PRESENT],
    judge: (texts, plane, clock) => failureOf(texts, plane, clock, (failure) => !isOfTemplate(failure)),
    advice: CORRECT,
  },
  {
    id: "injector-templates-compile",
    title: "injection templates compile",
    needs: [PRESENT],
    judge: (texts, plane, clock) => failureOf(texts, plane, clock, isOfTemplate),
    advice: CORRECT,
  },
  { id: "mesh-config-valid", title: "mesh configuration is valid", needs: [PRESENT], judge: mesh, advice: CORRECT },
  {
    id: "injector-policy-enabled",
    title: "the injection policy is enabled",
    needs: ["injector-config-valid", "injector-templates-compile"],
    judge: policy,
    advice: (map) => [
      byHand("label pod templates that need a sidecar with sidecar.istio.io/inject=true", "workload"),
      harmless('set "policy: enabled" in its key "config": labelled namespaces are then injected', "mesh", edit(map)),
    ],
  },
];

export const INJECTOR_CONFIGURATION_CHECKS: readonly CheckRow[] = ROWS.map((row) => ({
  ...row,
  run: (facts) => ofPlanes(facts, row),
}));

/**
 * Judges the ConfigMaps of all control planes. If the webhooks are unknown, the control plane is a guess, so a missing
 * ConfigMap makes the result unknown.
 */
async function ofPlanes(facts: Facts, { judge, advice }: Row): Promise<Finding> {
  const [webhooks, planes] = await Promise.all([later(facts.mutatingWebhooks()), facts.planes()]);
  const lost = judge === undefined ? [...planes.values()].filter(({ texts }) => !isKnown(texts)) : [];
  const again = new Map(
    await Promise.all(lost.map(async (each) => [each, await mapsAgain(each.plane, facts)] as const)),
  );
  const finders = [...planes.values()].map((plane) => (): readonly Problem[] => {
    if (judge !== undefined) return judge(known(plane.texts), plane, facts.clock);
    const broken = known(breakOf(plane.texts));
    if (broken !== undefined) webhooks();
    if (broken === undefined) return [];
    const { object, broken: message } = broken;
    return [{ object, result: "error", message, advice: [...again.get(plane) ?? [], ...ELSEWHERE] }];
  });
  const areAll = () => {
    webhooks();
    return [];
  };
  return findingOf(await inEach([areAll, ...finders], (find) => find()), advice);
}

/** Whether the failure is in a template: `template` in Istio 1.0 to 1.8, `templates.NAME` in later releases. */
function isOfTemplate({ place }: MeshError): boolean {
  return /^templates?(\.|$)/.test(place?.field ?? "");
}

/** Returns the problem of an invalid configuration or values. Ignores the mesh configuration. */
function failureOf(
  texts: PlaneTexts,
  { plane }: Pick<ObservedPlane, "plane">,
  clock: Facts["clock"],
  isMeant: (failure: MeshError) => boolean = () => true,
): readonly Problem[] {
  const failure = errorOf(() => withoutMesh(texts, plane.revision, clock));
  if (failure === undefined || !isMeant(failure)) return [];
  return [{ object: texts.injectorRef, result: "error", message: errorLine(failure) }];
}

const NO_MESH = { text: "", file: "no mesh configuration" };

function withoutMesh(texts: ClusterConfiguration, revision: string, clock: Facts["clock"]): Injector {
  return newInjector({ ...configurationOf({ ...texts, mesh: NO_MESH }), revision, ...asControlPlane(clock) });
}

function mesh({ mesh: { text, file }, meshRef: object }: PlaneTexts): readonly Problem[] {
  const failure = errorOf(() => parseMeshConfig(text, file, "current"));
  return failure === undefined ? [] : [{ object, result: "error", message: errorLine(failure) }];
}

/** Reports a policy other than "enabled". Does not read the mesh configuration, which has its own check. */
function policy(texts: PlaneTexts, { plane }: ObservedPlane, clock: Facts["clock"]): readonly Problem[] {
  const [failure] = failureOf(texts, { plane }, clock);
  if (failure !== undefined) return cannotTell(failure.message);
  const { policy: text } = withoutMesh(texts, plane.revision, clock).config;
  if (text === "enabled") return [];
  const message = text === "disabled"
    ? 'the policy is "disabled": only pods with the label sidecar.istio.io/inject=true are injected'
    : `the policy "${text}" is neither "enabled" nor "disabled": no pod is injected`;
  return [{ object: texts.injectorRef, result: text === "disabled" ? "warning" : "error", message }];
}

function errorOf(action: () => unknown): MeshError | undefined {
  try {
    action();
    return undefined;
  } catch (error) {
    if (error instanceof MeshError) return error;
    throw error;
  }
}
