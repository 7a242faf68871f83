/** Returns Envoy's configuration for a secret from the agent's SDS server, without a timeout. */
export function sdsSecret(name: string) {
  const source = {
    api_type: "GRPC",
    transport_api_version: "V3",
    set_node_on_first_message_only: true,
    grpc_services: [{ envoy_grpc: { cluster_name: "sds-grpc" } }],
  };
  return { name, sds_config: { initial_fetch_timeout: "0s", resource_api_version: "V3", api_config_source: source } };
}
