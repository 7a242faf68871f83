/** Fuzzes kubeconfigs. */
import { kubeconfigConnection } from "../../../src/kube/client/from_kubeconfig.ts";
import { fakeWorld } from "../../support/fake_world.ts";
import { type FuzzReader, holds } from "../reader.ts";
import { YAML_WORDS } from "./words.ts";

const SEED = `apiVersion: v1
kind: Config
current-context: one
clusters:
- name: a
  cluster: {server: "https://a.test:6443/", certificate-authority-data: LS0tLS0=, tls-server-name: k}
- name: b
  cluster: {server: "http://b.test", insecure-skip-tls-verify: true, proxy-url: "socks5://p:1"}
users:
- name: ada
  user: {client-certificate-data: LS0tLS0=, client-key-data: LS0tLS0=, as: root, as-groups: [x]}
- name: bob
  user: {token: t, tokenFile: /token}
- name: eve
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./x, args: [-x], env: [{name: A, value: "1"}]}}
contexts:
- {name: one, context: {cluster: a, user: ada, namespace: web}}
- {name: two, context: {cluster: b, user: bob}}
- {name: three, context: {cluster: b, user: eve}}
`;

export const KUBECONFIG: FuzzReader = {
  name: "kubeconfig",
  seeds: [
    SEED,
    SEED.replace("current-context: one", "current-context: two"),
    SEED.replace("current-context: one", "current-context: three"),
    JSON.stringify({
      clusters: [{ name: "c", cluster: { server: "https://a" } }],
      contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
      users: [{ name: "u", user: { username: "a", password: "b" } }],
      "current-context": "x",
    }),
  ],
  words: [
    ...YAML_WORDS,
    "clusters:",
    "users:",
    "contexts:",
    "server: ",
    "exec: ",
    "auth-provider: {name: oidc, config: {}}",
    "https://",
    "proxy-url: ",
    "name: ",
    "null",
  ],
  open: () => async (input) => {
    const world = fakeWorld({ files: { "/config": input, "/token": "t" } });
    const connection = await kubeconfigConnection(world, ["/config"], {});
    holds(/^https?:\/\//.test(connection.server), "the server is not a URL");
    return true;
  },
};
