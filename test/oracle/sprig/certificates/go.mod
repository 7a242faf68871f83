module kubectl-mesh/test/oracle/sprig/certificates

go 1.26
