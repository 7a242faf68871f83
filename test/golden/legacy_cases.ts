/** Flags and allowed differences of the recorded cases. */
import type { ValueMap } from "../../src/base/value.ts";
import type { Tolerated } from "./legacy_compare.ts";

const LABELS = "0/spec/template/metadata/labels";

/**
 * The small configurations of 1.2 to 1.7 are identical, so nothing distinguishes these releases: pods get the labels of
 * the last one. The earlier ones do not read them.
 */
const TLS_MODE = { line: RegExp(`^${LABELS}/security.istio.io~1tlsMode: want nothing`), why: "1.4 brought the label" };
const REVISION = { line: RegExp(`^${LABELS}/istio.io~1rev: want nothing`), why: "1.6 brought the label" };

export const HELLO: Readonly<Record<string, readonly Tolerated[]>> = {
  "1.2": [TLS_MODE, REVISION],
  "1.4": [REVISION],
};

/** How a case differs from the others of its folder. */
export interface Variant {
  /** The input, if its name differs from the output's. */
  readonly input?: string;
  /** Changes that the test made to the input. */
  readonly edit?: (text: string) => string;
  /** Changes to the template. */
  readonly template?: (text: string) => string;
  readonly values?: ValueMap;
  readonly mesh?: ValueMap;
  readonly tolerated?: readonly Tolerated[];
}

const STATUS_PARAMS: ValueMap = {
  global: {
    proxy: {
      statusPort: 123,
      readinessInitialDelaySeconds: 100,
      readinessPeriodSeconds: 200,
      readinessFailureThreshold: 300,
    },
  },
};

export const VARIANTS_1_8: Readonly<Record<string, Variant>> = {
  "format-duration": { mesh: { defaultConfig: { drainDuration: "23s", parentShutdownDuration: "42s" } } },
  "hello-always": { input: "hello", values: { global: { imagePullPolicy: "Always" } } },
  "hello-never": { input: "hello", values: { global: { imagePullPolicy: "Never" } } },
  "hello-mount-mtls-certs": { input: "hello", values: { global: { mountMtlsCerts: true } } },
  "hello-multiple-image-secrets": {
    input: "hello",
    edit: (text) =>
      text.replace("      containers:", "      imagePullSecrets:\n        - name: fooSecret\n      containers:"),
    values: { global: { imagePullSecrets: ["barSecret"] } },
  },
  "hello-probes.proxyHoldsApplication": {
    input: "hello-probes",
    values: { global: { proxy: { holdApplicationUntilProxyStarts: true } } },
  },
  "hello-tproxy": { input: "hello", mesh: { defaultConfig: { interceptionMode: "TPROXY" } } },
  kubevirtInterfaces: { values: STATUS_PARAMS },
  status_params: { values: STATUS_PARAMS },
  "traffic-params": {
    values: {
      global: {
        proxy: {
          includeIPRanges: "127.0.0.1/24,10.96.0.1/24",
          excludeIPRanges: "10.96.0.2/24,10.96.0.3/24",
          excludeInboundPorts: "4,5,6",
          statusPort: 0,
        },
      },
    },
  },
};

/** The outputs of 1.1 were recorded with the chart's mesh configuration, which is not kept. */
export const MESH_1_1 = `defaultConfig:
  drainDuration: 45s
  parentShutdownDuration: 1m0s
  discoveryAddress: istio-pilot:15010
`;

/**
 * They were also recorded with a template of some days before: with other tags, and before the proxy had
 * annotations and labels. Errors: an Error if the template is another one.
 */
export function earlier1_1(template: string): string {
  const before = template.replaceAll("release-1.1-latest-daily", "master-latest-daily").replace(METADATA, "");
  if (before === template || before.includes("METAJSON")) throw new Error("another template of 1.1 is kept now");
  return before;
}

const METADATA = / *\[\[ if \.ObjectMeta\.Annotations \]\][^]*?toJSON \.ObjectMeta\.Labels \]\]\s*\[\[ end \]\]\n/;

/** The proxy's resources before they had limits. */
function withoutLimits(template: string): string {
  const start = template.lastIndexOf("limits:");
  const end = template.indexOf("    [[ end -]]\n    volumeMounts:");
  return `${template.slice(0, start)}requests:\n        cpu: 10m\n${template.slice(end)}`;
}

export const VARIANTS_1_1: Readonly<Record<string, Variant>> = {
  "hello-config-map-name": { input: "hello" },
  "multi-init": { template: withoutLimits },
  "user-volume": {
    tolerated: [{
      line: /sidecar.istio.io~1status\/volumes\/[23]: want nothing, got "user-volume-[12]"/,
      why: "the annotation was recorded before the volumes, and not compared",
    }],
  },
};

/** Files that no case uses, and why. */
export const UNUSED: Readonly<Record<string, string>> = {
  "1.8.0/inject/hello-image-secrets-in-values.iop": "what it sets is in the variant hello-multiple-image-secrets",
  "1.8.0/inject/hello-template-in-values.iop":
    "its output is not kept, and the configuration does not read what it sets",
  "1.1.0/webhook/TestWebhookInject_no_initContainers_continers_volumes":
    "its patch is kept for the same pod, spelt right",
  "1.8.0/webhook/TestWebhookInject_no_initContainers_continers_volumes":
    "its patch is kept for the same pod, spelt right",
};
