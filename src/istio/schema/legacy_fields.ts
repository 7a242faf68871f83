import type { Era } from "../era.ts";

const PROXY = "v1alpha1.ProxyConfig";
const MESH = "v1alpha1.MeshConfig";
const OLD: readonly Era[] = ["1.1", "1.8"];
const FIRST: readonly Era[] = ["1.1"];
const UNTIL_1_16: readonly Era[] = [...OLD, "1.16"];

/**
 * Describes a legacy field: the message that contains the field, the eras that have the field, the field that it
 * replaces or follows (`""` if it comes first in the message), and its declaration in the schema's notation.
 */
type LegacyField = readonly [message: string, eras: readonly Era[], after: string, field: string];

/**
 * Fields that templates of 1.0 to 1.16 may read and that today's protos lack or declare with another kind.
 * Source: mesh/v1alpha1 of the releases.
 */
export const LEGACY_FIELDS: readonly LegacyField[] = [
  [PROXY, UNTIL_1_16, "drain_duration", "parent_shutdown_duration Duration"],
  [PROXY, OLD, "zipkin_address", "connect_timeout Duration"],
  [PROXY, OLD, "service_cluster", "service_cluster string"],
  [PROXY, FIRST, "concurrency", "concurrency int32"],
  [MESH, OLD, "", "mixer_check_server string"],
  [MESH, OLD, "mixer_check_server", "mixer_report_server string"],
  [MESH, OLD, "mixer_report_server", "disable_policy_checks bool"],
  [MESH, OLD, "disable_policy_checks", "policy_check_fail_open bool"],
  [MESH, OLD, "policy_check_fail_open", "sidecar_to_telemetry_session_affinity bool"],
  [MESH, FIRST, "connect_timeout", "rds_refresh_delay Duration"],
  [MESH, FIRST, "default_config", "mixer_address string"],
  [MESH, OLD, "outbound_traffic_policy", "enable_client_side_policy_check bool"],
  [MESH, OLD, "enable_client_side_policy_check", "sds_uds_path string"],
  [MESH, FIRST, "sds_uds_path", "sds_refresh_delay Duration"],
  [MESH, OLD, "enable_auto_mtls", "enable_sds_token_mount bool"],
  [MESH, OLD, "enable_sds_token_mount", "sds_use_k8s_sa_jwt bool"],
];
