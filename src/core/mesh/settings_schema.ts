/**
 * The parts of mesh and proxy configuration that the program itself uses, as zod schemas: the types come from here, and
 * data that did not come through `parseMeshConfig` can be checked with them. Unknown fields are allowed, fields that are
 * not set have the zero that Go gives them. Import it lazily: zod takes longer to load than a configuration to read.
 */
import * as z from "zod/mini";

const text = z._default(z.string(), "");
const flag = z._default(z.boolean(), false);
const number = z._default(z.int(), 0);
const texts = z._default(z.array(z.string()), []);
const textMap = z._default(z.record(z.string(), z.string()), {});

/** What the program uses of a ProxyConfig, by its JSON names. */
export const ProxySettingsSchema = z.looseObject({
  configPath: text,
  binaryPath: text,
  serviceCluster: text,
  discoveryAddress: text,
  drainDuration: text,
  terminationDrainDuration: text,
  proxyAdminPort: number,
  statusPort: number,
  statNameLength: number,
  concurrency: z._default(z.nullable(z.int()), null),
  interceptionMode: z._default(z.enum(["REDIRECT", "TPROXY", "NONE"]), "REDIRECT"),
  controlPlaneAuthPolicy: z._default(z.enum(["NONE", "MUTUAL_TLS", "INHERIT"]), "NONE"),
  holdApplicationUntilProxyStarts: flag,
  customConfigFile: text,
  proxyBootstrapTemplatePath: text,
  statsdUdpAddress: text,
  meshId: text,
  proxyMetadata: textMap,
  runtimeValues: textMap,
  extraStatTags: texts,
  caCertificatesPem: texts,
});

/** What the program uses of a MeshConfig besides its `defaultConfig`. */
export const MeshSettingsSchema = z.looseObject({
  trustDomain: text,
  trustDomainAliases: texts,
  rootNamespace: text,
  proxyListenPort: number,
  proxyInboundListenPort: number,
  enablePrometheusMerge: flag,
  enableTracing: flag,
  accessLogFile: text,
  sdsUdsPath: text,
  enableSdsTokenMount: flag,
});

/** Only the named fields of a loose object. */
type Named<T> = { readonly [K in keyof T as string extends K ? never : K]: T[K] };

export type ProxySettings = Named<z.infer<typeof ProxySettingsSchema>>;
export type MeshSettings = Named<z.infer<typeof MeshSettingsSchema>>;
