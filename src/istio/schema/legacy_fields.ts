import type { Era } from "../era.ts";

/**
 * A field that a message had in earlier releases, in the schema's notation. It follows the field `after` (`""`: first), or
 * replaces it if they have the same name.
 */
interface LegacyField {
  readonly message: string;
  readonly after: string;
  readonly field: string;
  readonly eras: readonly Era[];
}

const PROXY = "v1alpha1.ProxyConfig";
const MESH = "v1alpha1.MeshConfig";
const OLD: readonly Era[] = ["1.1", "1.8"];
const FIRST: readonly Era[] = ["1.1"];

/**
 * Fields that templates of 1.0 to 1.8 may read and that today's protos do not have, or have with another kind.
 * Source: mesh/v1alpha1 of the releases.
 */
export const LEGACY_FIELDS: readonly LegacyField[] = [
  { message: PROXY, after: "drain_duration", field: "parent_shutdown_duration Duration", eras: OLD },
  { message: PROXY, after: "zipkin_address", field: "connect_timeout Duration", eras: OLD },
  { message: PROXY, after: "service_cluster", field: "service_cluster string", eras: OLD },
  { message: PROXY, after: "concurrency", field: "concurrency int32", eras: FIRST },
  { message: MESH, after: "", field: "mixer_check_server string", eras: OLD },
  { message: MESH, after: "mixer_check_server", field: "mixer_report_server string", eras: OLD },
  { message: MESH, after: "mixer_report_server", field: "disable_policy_checks bool", eras: OLD },
  { message: MESH, after: "disable_policy_checks", field: "policy_check_fail_open bool", eras: OLD },
  { message: MESH, after: "policy_check_fail_open", field: "sidecar_to_telemetry_session_affinity bool", eras: OLD },
  { message: MESH, after: "connect_timeout", field: "rds_refresh_delay Duration", eras: FIRST },
  { message: MESH, after: "default_config", field: "mixer_address string", eras: FIRST },
  { message: MESH, after: "outbound_traffic_policy", field: "enable_client_side_policy_check bool", eras: OLD },
  { message: MESH, after: "enable_client_side_policy_check", field: "sds_uds_path string", eras: OLD },
  { message: MESH, after: "sds_uds_path", field: "sds_refresh_delay Duration", eras: FIRST },
  { message: MESH, after: "enable_auto_mtls", field: "enable_sds_token_mount bool", eras: OLD },
  { message: MESH, after: "enable_sds_token_mount", field: "sds_use_k8s_sa_jwt bool", eras: OLD },
];
