/** How the listeners of Istio's template stand in it. */
import { type LayoutOf, withInner } from "./layout.ts";
import { ONE_LINE } from "./lines.ts";

const GAP = { gap: 0 };
const HTTP = "filter_chains/[]/filters/[]/typed_config";
const HOST = `${HTTP}/route_config/virtual_hosts/[]`;
const TLS = "filter_chains/[]/transport_socket/typed_config/common_tls_context";
const SECRETS = [
  "tls_certificate_sds_secret_configs/[]",
  "combined_validation_context/validation_context_sds_secret_config",
];

const METRICS = withInner({
  name: GAP,
  "address/socket_address/address": GAP,
  "additionalAddresses/[]/address/socket_address/address": GAP,
  [`${HTTP}/http_filters`]: { indent: 0, outdent: 2 },
});

const SECURED = withInner({
  ...Object.fromEntries(
    SECRETS.map((secret) => [`${TLS}/${secret}/sds_config/api_config_source/grpc_services`, ONE_LINE]),
  ),
  [`${HOST}/domains`]: ONE_LINE,
  [`${HOST}/routes/[]/match`]: ONE_LINE,
  [`${HOST}/routes/[]/route`]: ONE_LINE,
}, GAP);

const HEALTH = withInner({
  address: { indent: 3 },
  "listener_filters/[]/typed_config": { commas: "behind all" },
  [`${HTTP}/http_filters`]: { isTight: true },
});

/** The first has metrics, the last is the proxy's health, those between are for clients with a certificate. */
export const LISTENER: LayoutOf = (_value, index, count) => {
  if (index === 0) return METRICS;
  return index === count - 1 ? HEALTH : SECURED;
};
