/** Finds credentials by their form, independent of their names. */

/** The forms, grouped by issuer. A group named `kept` matches text before the credential that is not replaced. */
const FORMS: Readonly<Record<string, RegExp>> = {
  "PEM": /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY-----|$)/g,
  "JWT and JWE": /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*){1,4}/g,
  "Authorization":
    /(?<kept>\b(?:[Bb]earer|[Bb]asic|BEARER|BASIC|Digest|Negotiate|Token)(?: |%20))[A-Za-z0-9._~+/=-]{8,}/g,
  "AWS": /(?<![A-Za-z0-9])(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  "GitHub": /(?<![A-Za-z0-9])(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})/g,
  "GitLab": /(?<![A-Za-z0-9])gl(?:pat|ptt|dt|rt|cbt|agent|soat|ffct)-[\w-]{16,}/g,
  "Slack": /(?<![A-Za-z0-9])(?:xox[a-z]|xapp)-[\w-]{10,}/g,
  "Slack, Discord, Teams":
    /(?<kept>(?:hooks\.slack\.com\/services|discord(?:app)?\.com\/api\/webhooks|webhook\.office\.com)\/)[\w\/@-]+/g,
  "Google": /(?<![A-Za-z0-9])(?:AIza[\w-]{30,}|ya29\.[\w-]{10,}|GOCSPX-[\w-]{10,}|1\/\/0[\w-]{20,})/g,
  "Stripe": /(?<![A-Za-z0-9])(?:[sr]k_(?:live|test)_[A-Za-z0-9]{10,}|whsec_[A-Za-z0-9+/=]{10,})/g,
  "OpenAI, Anthropic": /(?<![A-Za-z0-9])sk-[\w-]{20,}/g,
  "npm, PyPI, RubyGems": /(?<![A-Za-z0-9])(?:npm_[A-Za-z0-9]{20,}|pypi-[\w-]{20,}|rubygems_[a-f0-9]{20,})/g,
  "SendGrid": /(?<![A-Za-z0-9])SG\.[\w-]{10,}\.[\w-]{10,}/g,
  "Twilio": /(?<![A-Za-z0-9])SK[0-9a-f]{32}(?![A-Za-z0-9])/g,
  "DigitalOcean": /(?<![A-Za-z0-9])do[opr]_v1_[0-9a-f]{32,}/g,
  "Vault": /(?<![A-Za-z0-9])hv[sbr]\.[\w-]{20,}/g,
  "Terraform": /(?<![A-Za-z0-9])[A-Za-z0-9]{14}\.atlasv1\.[\w-]{20,}/g,
  "Hugging Face, Linear, Doppler": /(?<![A-Za-z0-9])(?:hf_|lin_api_|dp\.(?:pt|st|sa|ct)\.)[A-Za-z0-9]{20,}/g,
  "Shopify, Square": /(?<![A-Za-z0-9])(?:shp(?:at|ca|pa|ss)_[A-Za-z0-9]{20,}|sq0[a-z]{3}-[\w-]{20,})/g,
  "New Relic, Postman, Mailgun": /(?<![A-Za-z0-9])(?:NRAK-[A-Z0-9]{20,}|PMAK-[\w-]{20,}|key-[0-9a-f]{32})/g,
  "Telegram": /(?<![A-Za-z0-9])\d{8,10}:AA[\w-]{30,}/g,
  "age": /AGE-SECRET-KEY-1[A-Z0-9]{20,}/g,
  "user and password of curl": /(?<kept>(?:-u|--user|--proxy-user)[ =]["']?[a-z][\w.@-]*:)[^\s"'\\]+/gi,
  "user and password of a URL": /(?<kept>:\/\/)[^\s\/?#@"']{1,500}(?=@)/g,
  "password of a data source": /(?<kept>(?<![\w.-])[\w.-]{1,100}:)(?!\/)[^\s:@\/"']{1,200}(?=@(?!sha\d{3}:)[a-z([])/gi,
};

/** Replaces each credential in a text with the result of `replace`. */
export function replaceCredentials(text: string, replace: (credential: string) => string): string {
  let result = text;
  for (const form of Object.values(FORMS)) {
    result = result.replaceAll(form, (found: string, ...rest: readonly unknown[]) => {
      const kept = keptOf(rest.at(-1));
      return kept + replace(found.slice(kept.length));
    });
  }
  return result;
}

function keptOf(groups: unknown): string {
  const kept = typeof groups === "object" && groups !== null && "kept" in groups ? groups.kept : "";
  return typeof kept === "string" ? kept : "";
}
