/** The category injector-configuration: the ConfigMaps of the control planes. */
import { errorLine, MeshError } from "../../core/errors.ts";
import { parseMeshConfig } from "../../core/mesh/mod.ts";
import { type ClusterConfiguration, configurationOf, type Injector, newInjector } from "../../inject/mod.ts";
import type { Check, Finding } from "../check.ts";
import { type Inventory, isKnown } from "../inventory/mod.ts";
import type { ObservedPlane, PlaneTexts } from "../inventory/control_planes.ts";
import { findingOrUnknown, type Problem } from "./findings.ts";

/** Judges a control plane whose ConfigMaps are read: only `present` sees one whose ConfigMaps are unknown. */
type Judge = (texts: PlaneTexts, plane: ObservedPlane, clock: Inventory["clock"]) => readonly Problem[];

interface Row {
  readonly id: string;
  readonly title: string;
  readonly needs: readonly string[];
  readonly judge: Judge;
}

const PRESENT = "injector-config-present";

const ROWS: readonly Row[] = [
  { id: PRESENT, title: "control plane ConfigMaps exist", needs: [], judge: () => [] },
  {
    id: "injector-config-valid",
    title: "injector configuration and values are valid",
    needs: [PRESENT],
    judge: (texts, plane, clock) => failureOf(texts, plane, clock, (failure) => !isOfTemplate(failure)),
  },
  {
    id: "injector-templates-compile",
    title: "injection templates compile",
    needs: [PRESENT],
    judge: (texts, plane, clock) => failureOf(texts, plane, clock, isOfTemplate),
  },
  { id: "mesh-config-valid", title: "mesh configuration is valid", needs: [PRESENT], judge: mesh },
  {
    id: "injector-policy-enabled",
    title: "the injection policy is enabled",
    needs: ["injector-config-valid", "injector-templates-compile"],
    judge: policy,
  },
];

export const INJECTOR_CONFIGURATION_CHECKS: readonly Check[] = ROWS.map((row) => ({
  id: row.id,
  category: "injector-configuration",
  title: row.title,
  needs: row.needs,
  run: (inventory) => ofPlanes(inventory, row),
}));

/**
 * Problems of all control planes. What cannot be read is never ok: without a problem the result is unknown. A missing
 * ConfigMap is a problem of the first check, which the others need. Without the right to read webhooks it is none:
 * the control plane of the scope is then a guess.
 */
async function ofPlanes(inventory: Inventory, { id, judge }: Row): Promise<Finding> {
  const problems: Problem[] = [];
  const webhooks = await inventory.mutatingWebhooks();
  let unknown = isKnown(webhooks) ? undefined : webhooks;
  for (const plane of (await inventory.planes()).values()) {
    const { texts } = plane;
    if (isKnown(texts)) problems.push(...judge(texts.value, plane, inventory.clock));
    else if (id === PRESENT && "broken" in texts && isKnown(webhooks)) {
      problems.push({ object: texts.object, result: "error", message: texts.broken });
    } else unknown ??= texts;
  }
  return findingOrUnknown(problems, unknown);
}

/** `template` in configurations of Istio 1.0 to 1.8, `templates.NAME` in current ones. */
function isOfTemplate({ place }: MeshError): boolean {
  return /^templates?(\.|$)/.test(place?.field ?? "");
}

/** Why configuration and values are invalid; ignores the mesh configuration. */
function failureOf(
  texts: PlaneTexts,
  { plane }: ObservedPlane,
  clock: Inventory["clock"],
  isMeant: (failure: MeshError) => boolean,
): readonly Problem[] {
  const failure = errorOf(() => load({ ...texts, mesh: NO_MESH }, plane.revision, clock));
  if (failure === undefined || !isMeant(failure)) return [];
  return [{ object: texts.injectorRef, result: "error", message: errorLine(failure) }];
}

const NO_MESH = { text: "", file: "no mesh configuration" };

function load(texts: ClusterConfiguration, revision: string, clock: Inventory["clock"]): Injector {
  const world = { env: () => undefined, now: () => clock.now() };
  return newInjector({ ...configurationOf(texts), revision, byHand: false, ...world });
}

function mesh({ mesh: { text, file }, meshRef: object }: PlaneTexts): readonly Problem[] {
  const failure = errorOf(() => parseMeshConfig(text, file, "current"));
  return failure === undefined ? [] : [{ object, result: "error", message: errorLine(failure) }];
}

/** The checks that this one needs report a configuration that cannot be loaded. */
function policy({ injectorRef: object }: PlaneTexts, { injector }: ObservedPlane): readonly Problem[] {
  if (!isKnown(injector) || injector.value.config.policy === "enabled") return [];
  const { policy: text } = injector.value.config;
  const message = text === "disabled"
    ? 'the policy is "disabled": only pods with the label sidecar.istio.io/inject=true are injected'
    : `the policy "${text}" is neither "enabled" nor "disabled": nothing is injected`;
  return [{ object, result: text === "disabled" ? "warning" : "error", message }];
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
