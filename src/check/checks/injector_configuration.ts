/** The category injector-configuration: the ConfigMaps of the control planes. */
import { errorLine, MeshError } from "../../core/errors.ts";
import { parseMeshConfig } from "../../core/mesh/mod.ts";
import { type ClusterConfiguration, configurationOf, type Injector, newInjector } from "../../inject/mod.ts";
import type { Check, Finding } from "../check.ts";
import { type Inventory, isKnown, type Observed } from "../inventory/mod.ts";
import type { ObservedPlane } from "../inventory/control_planes.ts";
import { cannotTell, findingOf, type Problem } from "./findings.ts";

export const INJECTOR_CONFIGURATION_CHECKS: readonly Check[] = [
  {
    id: "injector-config-present",
    category: "injector-configuration",
    title: "control plane ConfigMaps exist",
    needs: [],
    run: (inventory) => ofPlanes(inventory, present),
  },
  {
    id: "injector-config-valid",
    category: "injector-configuration",
    title: "injector configuration and values are valid",
    needs: ["injector-config-present"],
    run: (inventory) => ofPlanes(inventory, (fact) => valid(fact, inventory)),
  },
  {
    id: "injector-templates-compile",
    category: "injector-configuration",
    title: "injection templates compile",
    needs: ["injector-config-present"],
    run: (inventory) => ofPlanes(inventory, (fact) => templates(fact, inventory)),
  },
  {
    id: "mesh-config-valid",
    category: "injector-configuration",
    title: "mesh configuration is valid",
    needs: ["injector-config-present"],
    run: (inventory) => ofPlanes(inventory, mesh),
  },
  {
    id: "injector-policy-enabled",
    category: "injector-configuration",
    title: "the injection policy is enabled",
    needs: ["injector-config-valid", "injector-templates-compile"],
    run: (inventory) => ofPlanes(inventory, policy),
  },
];

type Judge = (fact: ObservedPlane) => Observed<readonly Problem[]>;

async function ofPlanes(inventory: Inventory, judge: Judge): Promise<Finding> {
  const problems: Problem[] = [];
  for (const plane of (await inventory.planes()).values()) {
    const found = judge(plane);
    if (!isKnown(found)) return cannotTell(found);
    problems.push(...found.value);
  }
  return findingOf(problems);
}

/** A missing ConfigMap or key. */
function present({ texts }: ObservedPlane): ReturnType<Judge> {
  if (isKnown(texts)) return NOTHING;
  if (!("broken" in texts)) return texts;
  return { value: [{ object: texts.object, result: "error", message: texts.broken }] };
}

function valid(fact: ObservedPlane, { clock }: Inventory): ReturnType<Judge> {
  const failure = failureOf(fact, clock);
  return failure === undefined || isOfTemplate(failure) ? NOTHING : problemOf(fact, failure);
}

function templates(fact: ObservedPlane, { clock }: Inventory): ReturnType<Judge> {
  const failure = failureOf(fact, clock);
  return failure === undefined || !isOfTemplate(failure) ? NOTHING : problemOf(fact, failure);
}

const NOTHING: Observed<readonly Problem[]> = { value: [] };

function problemOf({ texts }: ObservedPlane, failure: MeshError): ReturnType<Judge> {
  if (!isKnown(texts)) return NOTHING;
  return { value: [{ object: texts.value.injectorRef, result: "error", message: errorLine(failure) }] };
}

/** `template` in configurations of Istio 1.0 to 1.8, `templates.NAME` in current ones. */
function isOfTemplate({ place }: MeshError): boolean {
  return /^templates?(\.|$)/.test(place?.field ?? "");
}

/** Why configuration and values are invalid; ignores the mesh configuration. */
function failureOf({ texts, plane }: ObservedPlane, clock: Inventory["clock"]): MeshError | undefined {
  if (!isKnown(texts)) return undefined;
  return errorOf(() => load({ ...texts.value, mesh: NO_MESH }, plane.revision, clock));
}

const NO_MESH = { text: "", file: "no mesh configuration" };

function load(texts: ClusterConfiguration, revision: string, clock: Inventory["clock"]): Injector {
  const world = { env: () => undefined, now: () => clock.now() };
  return newInjector({ ...configurationOf(texts), revision, byHand: false, ...world });
}

function mesh({ texts }: ObservedPlane): ReturnType<Judge> {
  if (!isKnown(texts)) return NOTHING;
  const { mesh: { text, file }, meshRef: object } = texts.value;
  const failure = errorOf(() => parseMeshConfig(text, file, "current"));
  if (failure === undefined) return NOTHING;
  return { value: [{ object, result: "error", message: errorLine(failure) }] };
}

function policy({ injector, texts }: ObservedPlane): ReturnType<Judge> {
  if (!isKnown(injector) || !isKnown(texts) || injector.value.config.policy === "enabled") return NOTHING;
  const { policy: text } = injector.value.config;
  const message = text === "disabled"
    ? 'the policy is "disabled": only pods with the label sidecar.istio.io/inject=true are injected'
    : `the policy "${text}" is neither "enabled" nor "disabled": nothing is injected`;
  return { value: [{ object: texts.value.injectorRef, result: text === "disabled" ? "warning" : "error", message }] };
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
