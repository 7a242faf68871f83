#!/bin/bash
set -uo pipefail

usage() {
  cat <<'END'
Show the mesh on this machine: a real kube-apiserver, istiod and Envoy, and two
pods in network namespaces. The webhook injects them, they talk over mutual TLS,
something breaks, "kubectl mesh check" names it, and what it advises heals it.

Usage:
  examples/demo.sh [--fast | --record]

Flags:
      --fast     No pauses; without it, a key ends each of them
      --record   Write the story to docs/images/demo.txt and its pictures, too
  -h, --help     Print this

It needs Linux, root, and the packages that it names if they are missing. It
takes one to two minutes; the first run also builds kube-apiserver and istiod,
some ten minutes. It leaves no process, namespace or rule behind, also after
Ctrl-C. Go's caches of the build (some 4 GB) stay in ~/go and ~/.cache/go-build
of root.
END
}

self=$(readlink -f "${BASH_SOURCE[0]}")
cd "$(dirname "$self")/.." || exit
# shellcheck source=demo/stage.sh
. examples/demo/stage.sh

case "$*" in
  '') ;;
  --fast) fast=1 ;;
  -h | --help) usage; exit ;;
  --record)
    "$self" | tee >(cat >&2) | tools/deno run --quiet --no-check --allow-all test/e2e/demo/record_main.ts
    exit
    ;;
  *) fail "Unknown arguments: $*; see \"examples/demo.sh --help\"" 2 ;;
esac

{ true 3>&1; } 2>/dev/null || fail 'Standard output is closed'
[ "$(uname -s)" = Linux ] || fail 'The demo needs Linux, for network namespaces'
[ "$(id -u)" = 0 ] || fail 'The demo needs root, for network namespaces: run "sudo examples/demo.sh"'
missing=()
for program in curl etcd go ip iptables nsenter openssl python3 setpriv setsid; do
  command -v "$program" >/dev/null || missing+=("$program")
done
[ ${#missing[@]} = 0 ] || fail "The demo needs programs that are not on the PATH of $(id -un): ${missing[*]}; on Debian: \
apt-get install curl etcd-server golang iproute2 iptables openssl python3 util-linux (Debian 12: golang of bookworm-backports)"
go_version=$(go env GOVERSION)
case $go_version in
  go1.? | go1.?.* | go1.1? | go1.1?.* | go1.20 | go1.20.*)
    fail "Go ${go_version#go} is too old: the demo needs Go 1.21 or later, which downloads the version that the servers need; \
Debian 13 has it, Debian 12 has it in bookworm-backports" ;;
esac

# The servers, and the node that runs the pods. They are there as long as descriptor 3 is open.
folder=$(mktemp -d "${TMPDIR:-/tmp}/mesh-demo.XXXXXX") && chmod 755 "$folder" || exit
coproc machine {
  TMPDIR=$folder MESH_TEST_RUN=${MESH_TEST_RUN:-alone}-${folder##*.} exec setsid \
    tools/deno run --quiet --no-check --allow-all test/e2e/demo/machine_main.ts "$folder"
}
pid=$machine_PID
exec 3>&"${machine[1]}" 4<&"${machine[0]}" {machine[1]}>&- {machine[0]}<&-
# What root built belongs to the owner of the checkout, who compiles in it and removes it without sudo.
trap 'exec 3>&-; wait "$pid"; rm -rf "$folder"; if [ -d .cache ]; then chown -RhP --reference=. .cache; fi' EXIT
for signal in HUP:129 INT:130 TERM:143; do trap "exit ${signal#*:}" "${signal%:*}"; done

still_possible() { kill -0 "$pid" 2>/dev/null; }

printf '# Starting kube-apiserver, istiod and the webhook.\n' | paint
# Meanwhile the machine says on standard error what it builds.
until read -r -t 30 answer <&4; do
  kill -0 "$pid" 2>/dev/null || exit 1
done
export KUBECONFIG=$folder/kubeconfig KUBECACHEDIR=$folder/cache PATH=$folder/bin:$PATH
kubectl config set-context --current --namespace=shop >/dev/null
# A new label of a namespace decides about new pods a moment later.
new_pods_have() { until_says "^$1$" 'kubectl run app --image=app --dry-run=server -o "jsonpath={.spec.containers[*].name}"'; }

say 'Two pods, whose manifests know of no proxy, in a namespace that asks for one.' \
  'The API server calls the webhook, which adds it: each pod has two containers.'
run 'pod/cart' 'kubectl apply -f examples/demo/shop.yaml -f examples/demo/cart.yaml'
run 'catalog condition met' 'kubectl wait --for=condition=Ready pod --all --timeout=60s'
run '2/2.*2/2' 'kubectl get pods'

say 'The init container captured the traffic of the pod.'
run '15006' 'kubectl exec cart -- iptables-save -t nat | grep "REDIRECT -p"'

say 'cart asks catalog in plain HTTP. The proxies make mutual TLS of it: the proxy' \
  'of catalog passes on who asked, from the certificate.'
run 'URI=' 'kubectl exec cart -- curl -s http://catalog:8080/headers | grep -o "URI=.*/cart"'

say 'Is all well?'
run '√:' 'kubectl mesh check -o short'

say 'Where does the connection go, and why?'
run '√ reaches' 'kubectl mesh explain pod/cart --to catalog:8080'

say 'Somebody mistypes the label of the namespace, and then cart is made again.'
run 'labeled' 'kubectl label namespace shop istio-injection=enable --overwrite'
new_pods_have 'app'
run 'replaced' 'kubectl replace --force -f examples/demo/cart.yaml'
run 'condition met' 'kubectl wait --for=condition=Ready pod/cart --timeout=60s'

say 'cart has no proxy. catalog takes mutual TLS only, and refuses it.'
run '1/1.*2/2' 'kubectl get pods'
run 'reset|Empty reply' 'kubectl exec cart -- curl -sS http://10.196.0.1:8080/headers'

say 'What is wrong?'
run 'fix: correct the label' 'kubectl mesh check -o short'

say 'That is what it advises, as it printed it.'
run 'labeled' "$(advice)"
new_pods_have 'app istio-proxy'
run 'fix: delete the pod' 'kubectl mesh check -o short'
run 'replaced' "$(advice)"
run 'condition met' 'kubectl wait --for=condition=Ready pod/cart --timeout=60s'

say 'All is well again.'
run 'URI=' 'kubectl exec cart -- curl -s http://catalog:8080/headers | grep -o "URI=.*/cart"'
run '√:' 'kubectl mesh check -o short'
