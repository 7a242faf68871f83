/** Checks that Istio reads the installed CRDs of the Gateway API. */
import { byHand } from "../../advice/advice.ts";
import type { Finding } from "../../check.ts";
import type { Facts } from "../../facts.ts";
import { BUNDLE, GATEWAY_GROUP, type GatewayCrd, type GatewayPlural } from "../../inventory/gateway_crds.ts";
import { findingOf, type Problem, WHOLE_CLUSTER } from "../findings.ts";

interface Wanted {
  /** The API version that Istio reads now, the one that it read before, and the Istio release that switched. */
  readonly reads?: readonly [now: string, before?: string, since?: string];
  /** The oldest Gateway API release whose CRD Istio accepts, and the Istio release that introduced this minimum. */
  readonly from?: readonly [bundle: string, since: string];
  /** The first Gateway API release that meets all requirements. */
  readonly upgrade: string;
}

const CORE: Wanted = { reads: ["v1", "v1beta1", "1.29"], upgrade: "1.0.0" };

/** By plural name. Source: pkg/config/schema/gvr, pkg/kube/kclient, istioctl/pkg/precheck of Istio 1.20 to 1.31. */
const WANTED: Readonly<Record<GatewayPlural, Wanted>> = {
  gateways: CORE,
  gatewayclasses: CORE,
  httproutes: CORE,
  referencegrants: { reads: ["v1beta1"], upgrade: "0.6.0" },
  grpcroutes: { reads: ["v1", "v1alpha2", "1.22"], from: ["1.1.0", "1.22"], upgrade: "1.1.0" },
  backendtlspolicies: { from: ["1.4.0", "1.28"], upgrade: "1.4.0" },
  tlsroutes: { from: ["1.5.0", "1.30"], upgrade: "1.5.0" },
  tcproutes: { from: ["1.6.0", "1.31"], upgrade: "1.6.0" },
};

/** Reports CRDs that Istio ignores or cannot read. Istio itself reports nothing in the status of their resources. */
export async function gatewayCrds(facts: Facts): Promise<Finding> {
  if (facts.scope.namespace !== undefined) return WHOLE_CLUSTER;
  const isServed = (await facts.apiGroups()).some((each) => each.startsWith(`${GATEWAY_GROUP}/`));
  if (!isServed) return { result: "skipped", message: "the cluster does not serve the Gateway API" };
  return findingOf((await facts.gatewayCrds()).flatMap(problemsOf));
}

function problemsOf(crd: GatewayCrd): readonly Problem[] {
  const wanted = WANTED[crd.plural];
  const problem = unread(crd, wanted) ?? ignored(crd, wanted);
  if (problem === undefined) return [];
  const advice = [byHand(`apply the CRDs of the Gateway API v${wanted.upgrade} or later`)];
  return [{ object: `customresourcedefinition/${crd.name}`, ...problem, advice }];
}

type Judged = Pick<Problem, "result" | "message"> | undefined;

function unread({ served }: GatewayCrd, { reads }: Wanted): Judged {
  if (reads === undefined || served.includes(reads[0])) return undefined;
  const [now, before, since] = reads;
  const message = `it serves ${served.join(", ") || "no version"}, and Istio reads ${now}`;
  if (before === undefined) return { result: "error", message };
  return served.includes(before)
    ? { result: "warning", message: `${message} since ${since}` }
    : { result: "error", message: `${message}, or ${before} before ${since}` };
}

function ignored({ bundle }: GatewayCrd, { from }: Wanted): Judged {
  if (from === undefined) return undefined;
  const [oldest, since] = from;
  const version = versionOf(bundle);
  if (version !== undefined && compared(version, versionOf(oldest) ?? []) >= 0) return undefined;
  const message = version === undefined
    ? `its annotation ${BUNDLE} is ${bundle === "" ? "missing" : `"${bundle}"`}`
    : `it comes from the Gateway API ${bundle}`;
  return { result: "warning", message: `${message}: Istio ${since} and later ignore versions below v${oldest}` };
}

/** Parses the numbers of `v1.5.0-rc.1`. Like Istio, treats a release candidate as the release. */
function versionOf(text: string): readonly number[] | undefined {
  const [, ...numbers] = /^v?(\d+)\.(\d+)\.(\d+)(?:[-+].*)?$/.exec(text) ?? [];
  return numbers.length === 0 ? undefined : numbers.map(Number);
}

function compared(one: readonly number[], other: readonly number[]): number {
  return one.map((number, index) => number - (other[index] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
