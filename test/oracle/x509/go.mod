module kubectl-mesh/test/oracle/x509

go 1.26
