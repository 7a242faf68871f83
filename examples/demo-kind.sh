#!/bin/bash
set -uo pipefail

usage() {
  cat <<'END_OF_USAGE'
Show the mesh in a cluster of kind: istiod's webhook injects two pods, they talk
over mutual TLS, something breaks, "kubectl mesh check" names it, and what it
advises heals it. It is the story of examples/demo.sh, with real nodes.

Usage:
  examples/demo-kind.sh [--fast] [--keep]

Flags:
      --fast   No pauses; on a terminal, a key ends each of them too
      --keep   Leave the cluster "mesh-demo" in place
  -h, --help   Print this

It needs a container engine, kind, kubectl and istioctl, gets some 2 GB of
images, and takes about five minutes. Your kubeconfig stays as it is.

No test runs it with a cluster of kind: the machines of the tests have no
container engine. One runs this script with stand-ins for kind, kubectl and
istioctl; examples/demo.sh is tested with a real API server, istiod and Envoy.
END_OF_USAGE
}

self=$(readlink -f "${BASH_SOURCE[0]}")
cd "$(dirname "$self")/.." || exit
# shellcheck source=demo/stage.sh
. examples/demo/stage.sh

keep=
for argument in "$@"; do
  case "$argument" in
    --fast) fast=1 ;;
    --keep) keep=1 ;;
    -h | --help) usage; exit ;;
    *) fail "Unknown arguments: $*; see \"examples/demo-kind.sh --help\"" 2 ;;
  esac
done
for program in kind kubectl istioctl; do
  command -v "$program" >/dev/null || fail "The demo needs $program, which is not installed"
done
if kind get clusters 2>/dev/null | grep -qx mesh-demo; then
  fail 'A cluster "mesh-demo" exists already; "kind delete cluster --name mesh-demo" removes it'
fi

folder=$(mktemp -d "${TMPDIR:-/tmp}/mesh-demo.XXXXXX") || exit
export KUBECONFIG=$folder/kubeconfig PATH=$PWD/plugin:$PATH

finish() {
  if [ -n "$keep" ]; then
    printf 'The cluster stays: KUBECONFIG=%s; "kind delete cluster --name mesh-demo" removes it\n' "$KUBECONFIG" >&2
    return
  fi
  kind delete cluster --name mesh-demo >/dev/null 2>&1
  rm -rf "$folder"
}
trap finish EXIT
for signal in HUP:129 INT:130 TERM:143; do trap "exit ${signal#*:}" "${signal%:*}"; done

# What takes minutes shows its own output.
long() {
  printf '$ %s\n' "$1" | paint
  eval "$1" || fail "\"$1\" failed"
}

printf '# A cluster, and Istio in it.\n' | paint
long 'kind create cluster --name mesh-demo --wait 2m'
long 'istioctl install --set profile=minimal -y'
kubectl config set-context --current --namespace=shop >/dev/null
# A new label of a namespace decides about new pods a moment later.
new_pods_have() { until_says "^$1$" 'kubectl run app --image=app --dry-run=server -o "jsonpath={.spec.containers[*].name} {.spec.initContainers[*].name}" | tr " " "\n" | grep -cx istio-proxy'; }

say 'Two pods, whose manifests know of no proxy, in a namespace that asks for one.' \
  'The API server calls the webhook, which adds it: each pod has two containers.'
run 'pod/cart' 'kubectl apply -f examples/demo/kind.yaml -f examples/demo/kind-cart.yaml'
run 'catalog condition met' 'kubectl wait --for=condition=Ready pod --all --timeout=180s'
run '2/2.*2/2' 'kubectl get pods'

say 'cart asks catalog in plain HTTP. The proxies make mutual TLS of it: the proxy' \
  'of catalog passes on who asked, from the certificate.'
run 'URI=' 'kubectl exec cart -c app -- curl -s http://catalog:8080/headers | grep -o "URI=[^;\"]*/cart"'

say 'Is all well?'
run 'results are' 'kubectl mesh check -n shop -o short'

say 'Where does the connection go, and why?'
run '√ reaches' 'kubectl mesh explain pod/cart --to catalog:8080'

say 'Somebody mistypes the label of the namespace, and then cart is made again.'
run 'labeled' 'kubectl label namespace shop istio-injection=enable --overwrite'
new_pods_have 0
run 'replaced' 'kubectl replace --force -f examples/demo/kind-cart.yaml'
run 'condition met' 'kubectl wait --for=condition=Ready pod/cart --timeout=60s'

say 'cart has no proxy. catalog takes mutual TLS only, and refuses it.'
run '1/1.*2/2' 'kubectl get pods'
run 'reset|Empty reply' 'kubectl exec cart -- curl -sS http://catalog:8080/headers'

say 'What is wrong?'
run 'fix: correct the label' 'kubectl mesh check -n shop -o short'

say 'That is what it advises, as it printed it.'
run 'labeled' "$(advice)"
new_pods_have 1
run 'fix: delete the pod' 'kubectl mesh check -n shop -o short'
run 'replaced' "$(advice)"
run 'condition met' 'kubectl wait --for=condition=Ready pod/cart --timeout=60s'

say 'All is well again.'
run 'URI=' 'kubectl exec cart -c app -- curl -s http://catalog:8080/headers | grep -o "URI=[^;\"]*/cart"'
run 'results are' 'kubectl mesh check -n shop -o short'
