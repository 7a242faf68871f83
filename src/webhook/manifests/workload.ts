/** Builds the webhook's Deployment, Service, PodDisruptionBudget and HorizontalPodAutoscaler. */
import type { Value, ValueMap } from "../../base/value.ts";
import { configurationNames, labelsOf, objectOf, type Plan, selectorLabels } from "./options.ts";

const VOLUME = "configuration";
const CONFIGURATION = "/etc/kubectl-mesh/configuration";
/** UID and GID of the webhook. Any ID except 0 works, even if the image has no entry for it in /etc/passwd. */
const USER = 65532;

/** The Service that the API server calls. It does not expose metrics: Prometheus scrapes each pod. */
export function service(plan: Plan): ValueMap {
  return objectOf(plan, "v1", "Service", {
    spec: {
      selector: selectorLabels(plan),
      ports: [{ name: "https-webhook", port: plan.servicePort, protocol: "TCP", targetPort: "https-webhook" }],
    },
  });
}

/**
 * Allows eviction even if only one replica exists, and always allows eviction of unready pods, so that node drains do not hang.
 */
export function disruptionBudget(plan: Plan): ValueMap {
  return objectOf(plan, "policy/v1", "PodDisruptionBudget", {
    spec: {
      maxUnavailable: 1,
      selector: { matchLabels: selectorLabels(plan) },
      unhealthyPodEvictionPolicy: "AlwaysAllow",
    },
  });
}

/** Target average CPU usage for the autoscaler. One process uses at most one CPU for reviews. */
const BUSY = "500m";

/** Returns the HorizontalPodAutoscaler, if `--max-replicas` is set. */
export function autoscaler(plan: Plan): ValueMap[] {
  if (plan.maxReplicas === undefined) return [];
  const spec = {
    scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name: plan.name },
    minReplicas: plan.replicas,
    maxReplicas: plan.maxReplicas,
    metrics: [{ type: "Resource", resource: { name: "cpu", target: { type: "AverageValue", averageValue: BUSY } } }],
  };
  return [objectOf(plan, "autoscaling/v2", "HorizontalPodAutoscaler", { spec })];
}

/** A rollout adds a pod before it removes one. With an autoscaler, `replicas` is absent, so that applying does not scale. */
export function deployment(plan: Plan): ValueMap {
  return objectOf(plan, "apps/v1", "Deployment", {
    spec: {
      ...(plan.maxReplicas === undefined ? { replicas: plan.replicas } : {}),
      selector: { matchLabels: selectorLabels(plan) },
      strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } },
      template: {
        metadata: {
          annotations: {
            "prometheus.io/path": "/metrics",
            "prometheus.io/port": String(plan.ports.plain),
            "prometheus.io/scrape": "true",
          },
          labels: { ...labelsOf(plan), "sidecar.istio.io/inject": "false" },
        },
        spec: podSpec(plan),
      },
    },
  });
}

function podSpec(plan: Plan): ValueMap {
  return {
    serviceAccountName: plan.name,
    securityContext: {
      runAsNonRoot: true,
      runAsUser: USER,
      runAsGroup: USER,
      seccompProfile: { type: "RuntimeDefault" },
    },
    topologySpreadConstraints: ["kubernetes.io/hostname", "topology.kubernetes.io/zone"].map((topologyKey) => ({
      maxSkew: 1,
      topologyKey,
      whenUnsatisfiable: "ScheduleAnyway",
      labelSelector: { matchLabels: selectorLabels(plan) },
    })),
    terminationGracePeriodSeconds: 30,
    containers: [container(plan)],
    ...(plan.cluster === undefined ? { volumes: [{ name: VOLUME, configMap: { name: plan.name } }] } : {}),
  };
}

function container(plan: Plan): ValueMap {
  return {
    name: "webhook",
    image: plan.image,
    command: ["kubectl-mesh"],
    args: [
      "webhook",
      "serve",
      // One argument for each flag, so that a diff shows the changed flag.
      `--listen=:${plan.ports.reviews}`,
      `--plain-listen=:${plan.ports.plain}`,
      `--revision=${plan.revision}`,
      ...configurationArguments(plan),
      "--self-managed-certs",
      `--namespace=${plan.namespace}`,
      `--service=${plan.name}`,
      `--certificate-secret=${plan.secret}`,
      `--webhook-config=${configurationNames(plan).join(",")}`,
    ],
    ports: [
      { name: "https-webhook", containerPort: plan.ports.reviews, protocol: "TCP" },
      { name: "http-metrics", containerPort: plan.ports.plain, protocol: "TCP" },
    ],
    // The webhook starts even if the API server is unreachable, but is not ready; a restart would not help.
    startupProbe: { ...probe("/healthz"), periodSeconds: 1, failureThreshold: 60 },
    readinessProbe: { ...probe("/ready"), periodSeconds: 3, failureThreshold: 2 },
    livenessProbe: { ...probe("/healthz"), periodSeconds: 10, failureThreshold: 3 },
    resources: { requests: { cpu: "100m", memory: "160Mi" }, limits: { memory: "256Mi" } },
    securityContext: {
      allowPrivilegeEscalation: false,
      capabilities: { drop: ["ALL"] },
      readOnlyRootFilesystem: true,
    },
    ...(plan.cluster === undefined
      ? { volumeMounts: [{ name: VOLUME, mountPath: CONFIGURATION, readOnly: true }] }
      : {}),
  };
}

function probe(path: string): Record<string, Value> {
  return { httpGet: { path, port: "http-metrics" }, timeoutSeconds: 3 };
}

function configurationArguments({ cluster }: Plan): readonly string[] {
  if (cluster === undefined) {
    const files = [["inject-config", "config"], ["values", "values"], ["mesh-config", "mesh"]];
    return files.map(([flag, file]) => `--${flag}=${CONFIGURATION}/${file}`);
  }
  return [
    "--from-cluster",
    `--istioNamespace=${cluster.namespace}`,
    `--injectConfigMapName=${cluster.injector}`,
    `--meshConfigMapName=${cluster.mesh}`,
  ];
}
