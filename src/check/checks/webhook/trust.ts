/** Checks the configured caBundle against the webhook's certificate in Secrets and ConfigMaps. */
import { sameBytes } from "../../../base/bytes.ts";
import { decodePems, isSignedBy, readCertificate } from "../../../golang/x509/mod.ts";
import type { ConfigMap, Secret } from "../../../kube/client/mod.ts";
import type { Finding } from "../../check.ts";
import { configurationRef, type InjectorWebhook } from "../../inventory/injector_webhooks.ts";
import { cannotTell, type Facts, firstKnown, inEach } from "../../facts.ts";
import { findingOf, type Problem } from "../findings.ts";
import { authoritiesOf, type Authority, bundleOf } from "./ca_bundle.ts";
import { type Called, isCalled, type ServiceTarget } from "./service.ts";
import { restarted } from "./webhook_advice.ts";

interface Place {
  readonly kind: "Secret" | "ConfigMap";
  readonly name: (target: ServiceTarget) => string;
  readonly key: string;
  /** `authority`: the caBundle must contain this certificate. `served`: a certificate in the caBundle signed it. */
  readonly holds: "authority" | "served";
}

/** First the certificate of this program's webhook, then the authorities that sign istiod's certificate. */
const PLACES: readonly Place[] = [
  { kind: "Secret", name: ({ name }) => `${name}-certificates`, key: "tls.crt", holds: "served" },
  { kind: "Secret", name: () => "cacerts", key: "root-cert.pem", holds: "authority" },
  { kind: "Secret", name: () => "istio-ca-secret", key: "ca-cert.pem", holds: "authority" },
  { kind: "ConfigMap", name: () => "istio-ca-root-cert", key: "root-cert.pem", holds: "authority" },
];

/** Checks that the caBundle of each webhook matches the certificate in the first of `PLACES` that exists. */
export async function trustAgrees(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  const seen: string[] = [];
  const problems = await inEach(sameService(webhooks), async (group): Promise<readonly Problem[]> => {
    const [{ configuration, target }] = group;
    const held = await firstPlace(target, facts);
    if (held === undefined) return [];
    seen.push(held.name);
    const differing = group.filter(({ caBundle }) => !agrees(caBundle, held));
    const messages = [
      differing.length > 0 ? disagreement(bundleOf(differing, webhooks), held) : undefined,
      differing.length < group.length ? invalidity(held, facts.clock.now()) : undefined,
    ].filter((message) => message !== undefined);
    const object = configurationRef({ configuration });
    return messages.map((message) => ({ object, result: "error", message, advice: restarted(target) }));
  });
  if (problems.length > 0) return findingOf(problems);
  if (seen.length > 0) return { result: "ok", message: [...new Set(seen)].join(", ") };
  return cannotTell("no known Secret or ConfigMap contains the webhook's certificate");
}

/** Groups the webhooks of each configuration by the Service that they call. */
function sameService(webhooks: readonly InjectorWebhook[]): [Called, ...Called[]][] {
  const key = ({ configuration, target }: Called) => JSON.stringify([configuration, target.namespace, target.name]);
  return [...Map.groupBy(webhooks.filter(isCalled), key).values()].flatMap(([first, ...others]) =>
    first === undefined ? [] : [[first, ...others]]
  );
}

interface Held {
  readonly name: string;
  readonly holds: Place["holds"];
  readonly der: Uint8Array;
}

/** Returns the certificate in the first of `PLACES` that exists. Skips forbidden objects if another can be read. */
async function firstPlace(target: ServiceTarget, facts: Facts): Promise<Held | undefined> {
  return await firstKnown(PLACES.map((place) => async (): Promise<Held | undefined> => {
    const name = place.name(target);
    const { namespace } = target;
    const object = place.kind === "Secret"
      ? await facts.secret({ namespace, name })
      : await facts.configMap(namespace, name);
    const der = certificateIn(object, place);
    return der === undefined ? undefined : { name: `${place.kind} "${namespace}/${name}"`, holds: place.holds, der };
  }));
}

function certificateIn(object: ConfigMap | Secret | undefined, { kind, key }: Place): Uint8Array | undefined {
  const text = object?.data?.[key];
  if (text === undefined) return undefined;
  return decodePems(kind === "Secret" ? atob(text) : text).find(({ type }) => type === "CERTIFICATE")?.bytes;
}

function agrees(caBundle: string, { holds, der }: Held): boolean {
  const authorities = quietly(() => authoritiesOf(caBundle)) ?? [];
  const isMatch = (authority: Authority) =>
    holds === "authority"
      ? sameBytes(authority.info.publicKey, readCertificate(der).publicKey)
      : isSignedBy(der, authority.der);
  return authorities.some((authority) => quietly(() => isMatch(authority)) ?? false);
}

function disagreement(bundle: string, { name, holds }: Held): string {
  return holds === "authority"
    ? `${bundle} does not contain the authority of the ${name}`
    : `no certificate in ${bundle} signed the certificate in the ${name}`;
}

/** Reports a served certificate that is expired or not yet valid. Another check covers authorities. */
function invalidity({ name, holds, der }: Held, now: Date): string | undefined {
  const read = quietly(() => readCertificate(der));
  if (holds === "authority" || read === undefined) return undefined;
  if (now < read.notBefore) return `the certificate in the ${name} is valid only from ${read.notBefore.toISOString()}`;
  return now < read.notAfter ? undefined : `the certificate in the ${name} expired at ${read.notAfter.toISOString()}`;
}

/** Returns `undefined` if the certificate cannot be parsed. */
function quietly<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    // The bytes are not a certificate.
    return undefined;
  }
}
