/** TLS settings of client and server that conflict, and policies that deny the client. */
import { MeshAuthority } from "../authority.ts";
import { type Breakage, host, plain } from "./breakage.ts";
import { certify } from "./ends_mesh.ts";
import { destinationRule, policy, route, service, virtualService } from "./resources.ts";

/** DestinationRules that conflict with the server's TLS mode. */
export const TLS: Readonly<Record<string, Breakage>> = {
  "tls-disabled": {
    make: (at, name) => [
      ...plain(name)(at),
      destinationRule(name, { trafficPolicy: { tls: { mode: "DISABLE" } } }),
    ],
    verdict: "refused",
    says: /STRICT.*the client uses plain HTTP: the connection is closed/,
    decided: ["DestinationRule", "tls-disabled", "spec.trafficPolicy.tls"],
    fix: /remove spec\.trafficPolicy\.tls of DestinationRule mesh\/tls-disabled, so/,
  },
  "tls-disabled-subset": {
    make: (at, name) => [
      ...plain(name)(at),
      destinationRule(name, {
        subsets: [{ name: "v1", labels: { app: "b" }, trafficPolicy: { tls: { mode: "DISABLE" } } }],
      }),
      virtualService(name, [route(host(name), "v1")]),
    ],
    verdict: "refused",
    says: /STRICT.*the client uses plain HTTP/,
    decided: ["DestinationRule", "tls-disabled-subset", "spec.subsets[0].trafficPolicy.tls"],
    alone: ["DestinationRule", "tls-disabled-subset", "spec.trafficPolicy.tls"],
    fix: /spec\.subsets\[0\]\.trafficPolicy\.tls/,
  },
  "tls-disabled-port": {
    make: (at, name) => [
      ...plain(name)(at),
      destinationRule(name, {
        trafficPolicy: { portLevelSettings: [{ port: { number: 8080 }, tls: { mode: "DISABLE" } }] },
      }),
    ],
    verdict: "refused",
    says: /STRICT.*the client uses plain HTTP/,
    decided: ["DestinationRule", "tls-disabled-port", "spec.trafficPolicy.portLevelSettings[0].tls"],
    alone: ["DestinationRule", "tls-disabled-port", "spec.trafficPolicy.tls"],
    fix: /portLevelSettings\[0\]\.tls/,
  },
  "tls-mutual": {
    make: (at, name) => [
      ...service(name, { address: at.b, port: 8081 }),
      destinationRule(name, { trafficPolicy: { tls: { mode: "ISTIO_MUTUAL" } } }),
    ],
    verdict: "refused",
    says: /DISABLE.*the client uses mutual TLS and HTTP: the connection is closed/,
    decided: ["DestinationRule", "tls-mutual", "spec.trafficPolicy.tls"],
    fix: /remove spec\.trafficPolicy\.tls of DestinationRule mesh\/tls-mutual, so/,
  },
  "tls-no-sidecar": {
    from: "plain",
    port: 8082,
    make: (at, name) => service(name, { address: at.b, port: 8082 }),
    verdict: "refused",
    says: /STRICT.*the client uses plain/,
    decided: ["PeerAuthentication", "b", 'spec.portLevelMtls["8082"].mode'],
    alone: ["PeerAuthentication", "", "spec.mtls.mode"],
    fix: /set spec\.portLevelMtls\["8082"\]\.mode of PeerAuthentication mesh\/b to PERMISSIVE/,
  },
  "tls-names": {
    make: (at, name) => [
      ...plain(name)(at),
      destinationRule(name, {
        trafficPolicy: { tls: { mode: "ISTIO_MUTUAL", subjectAltNames: ["spiffe://x/ns/y/sa/z"] } },
      }),
    ],
    verdict: "refused",
    says:
      /^The server's certificate is for spiffe:\/\/cluster\.local\/ns\/mesh\/sa\/b, but the client expects spiffe:\/\/x/,
    decided: ["DestinationRule", "tls-names", "spec.trafficPolicy.tls"],
    fix: /spec\.trafficPolicy\.tls/,
  },
  "other-root": {
    from: "d",
    make: (at, name) => plain(name)(at),
    verdict: "refused",
    breaks: ({ pods }) => certify(pods.d, new MeshAuthority(), 1),
    says:
      /^The certificates have no common root|^The client's certificate is signed by CN=root .*, which the server does not trust$/,
    decided: undefined,
    fix: /^give both control planes the same root/,
    heal: ({ mesh, pods }) => certify(pods.d, mesh.parts.root, 2),
  },
};

const as = (...principals: string[]) => ({ from: [{ source: { principals } }] });
const path = (name: string) => ({ operation: { paths: [name] } });

/** Policies that deny the client. */
export const AUTHORIZATION: Readonly<Record<string, Breakage>> = {
  "deny": {
    make: (at, name) => [
      ...service(name, { address: at.b, port: 8083 }),
      policy(name, "DENY", 8083, as("cluster.local/ns/mesh/sa/a")),
    ],
    verdict: "refused",
    says: /AuthorizationPolicy mesh\/deny rule 0 denies the request: 403/,
    decided: ["AuthorizationPolicy", "deny", "spec.rules[0]"],
    fix: /kubectl delete -n mesh authorizationpolicy\/deny$/,
    status: 403,
  },
  ...allowing("allow-other", 8084, as("cluster.local/ns/mesh/sa/other")),
  ...allowing("allow-namespace", 8085, { from: [{ source: { namespaces: ["shop"] } }] }),
  ...allowing("allow-trust-domain", 8086, as("old.local/ns/mesh/sa/a")),
  ...allowing("allow-path", 8087, { ...as("cluster.local/ns/mesh/sa/a"), to: [path("/api")] }),
  ...allowing("allow-token", 8088, { from: [{ source: { requestPrincipals: ["*"] } }] }),
  "token": {
    asked: ["--to", "http://token.mesh:8080/", "--header", `Authorization: Bearer ${token("https://other.example")}`],
    make: plain("token"),
    verdict: "refused",
    says: /^No RequestAuthentication accepts the token's issuer "https:\/\/other\.example": 401/,
    decided: ["RequestAuthentication", "b", "spec.jwtRules"],
    alone: ["RequestAuthentication", "", "spec.jwtRules"],
    fix: /^add the issuer to spec\.jwtRules of RequestAuthentication mesh\/b/,
    healed: ["--to", "http://token.mesh:8080/"],
    status: 401,
  },
};

/** A policy that allows only other clients at this port. */
function allowing(name: string, port: number, rule: object): Readonly<Record<string, Breakage>> {
  return {
    [name]: {
      make: (at) => [...service(name, { address: at.b, port }), policy(name, "ALLOW", port, rule)],
      verdict: "refused",
      says: /no ALLOW policy allows spiffe:\/\/cluster\.local\/ns\/mesh\/sa\/a: 403/i,
      decided: ["AuthorizationPolicy", name, "spec.rules"],
      fix: new RegExp(`^add the client to spec\\.rules of AuthorizationPolicy mesh/${name}: kubectl patch`),
      status: 403,
    },
  };
}

/** A token without a valid signature. */
function token(iss: string): string {
  const part = (value: object) =>
    btoa(JSON.stringify(value)).replaceAll("=", "").replaceAll("+", "-").replaceAll("/", "_");
  return `${part({ alg: "RS256", typ: "JWT" })}.${part({ iss, sub: "x", exp: 4_000_000_000 })}.c2lnbmF0dXJl`;
}
