/** The input of the benchmarks for `inject`. */

/** The folder with Istio's own injector configuration, values and mesh configuration, next to the checkout. */
export const SETTINGS = decodeURIComponent(new URL("../../../shared/cases/inject/settings", import.meta.url).pathname);

/** Returns a manifest with this many Services, each with two Deployments. */
export function manifestOf(services: number): string {
  return Array.from({ length: services }, (_, n) => copy(n)).join("");
}

/** Returns a Service and two Deployments with one container each; `n` makes the names unique. */
function copy(n: number): string {
  const workload = (version: string) =>
    `apiVersion: apps/v1
kind: Deployment
metadata:
  name: shop-${n}-${version}
  labels: {app: shop-${n}, version: ${version}}
spec:
  replicas: 1
  selector:
    matchLabels: {app: shop-${n}, version: ${version}}
  template:
    metadata:
      labels: {app: shop-${n}, version: ${version}}
    spec:
      containers:
      - name: shop
        image: example.com/shop:${version}
        imagePullPolicy: IfNotPresent # cached on the nodes
        resources:
          requests: {cpu: 100m}
        ports:
        - containerPort: 5000
`;
  return `apiVersion: v1
kind: Service
metadata:
  name: shop-${n}
  labels: {app: shop-${n}, service: shop-${n}}
spec:
  ports:
  - {port: 5000, name: http}
  selector: {app: shop-${n}}
---
${workload("v1")}---
${workload("v2")}---
`;
}
