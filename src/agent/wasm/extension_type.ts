/** Type URL of extension configurations (ECDS). */
export const EXTENSION_TYPE = "type.googleapis.com/envoy.config.core.v3.TypedExtensionConfig";
