module kubectl-mesh/bench/dns_peer

go 1.24.0
