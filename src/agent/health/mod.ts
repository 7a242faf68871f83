/**
 * Health of a workload that no kubelet probes, such as a virtual machine. In: `readinessProbe` of the proxy configuration
 * (`HealthSettings`). Out: reports for the control plane, which takes an unhealthy workload out of its services.
 */
export type { HealthReport, HealthReports, HealthSettings } from "./options.ts";
export { type RunningHealth, startHealth } from "./reports.ts";
