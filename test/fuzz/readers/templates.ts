/** Fuzzes templates: parses them, and runs them with data. */
import { parse } from "../../../src/golang/gotemplate/mod.ts";
import { loadLibraries, sprigFunctions } from "../../../src/golang/gotemplate/sprig/mod.ts";
import { type FuzzReader, textOf } from "../reader.ts";

/** Functions that are slow by design, such as generators of RSA keys. */
const SLOW =
  /^(?:gen|buildCustomCert|bcrypt|htpasswd|derivePassword|encryptAES|decryptAES|getHostByName|rand|repeat|until|seq)/;

const LIMITS = { output: 1 << 18, depth: 100, steps: 20_000 };

export const TEMPLATES: FuzzReader = {
  name: "templates",
  seeds: [
    '{{- if and .a (not .b) }}\n{{ .a | quote | indent 2 }}\n{{- else if eq .n 3 }}{{ printf "%q %v" .t .l }}{{ end }}\n',
    "{{ range $i, $v := .l }}{{ $i }}={{ $v | upper }}{{ if eq $i 1 }}{{ break }}{{ end }}{{ else }}none{{ end }}",
    '{{ define "x" }}[{{ . }}]{{ end }}{{ template "x" .m.k }}{{ block "y" . }}{{ len .l }}{{ end }}',
    '{{ $v := dict "a" 1 "b" (list 1 2 3) }}{{ toJson $v }}{{ with $v.b }}{{ index . 0 }}{{ end }}{{/* c */}}',
    '{{ .t | regexReplaceAll "a(b)" "${1}" | trunc 5 | default "x" }}{{ substr 0 3 .t }}{{ "raw" | b64enc }}{{ `a\nb` }}',
    "{{ 1.5 | int }} {{ 0x1F }} {{ 1e3 }} {{ 'a' }} {{ nil }} {{ add 1 2 | mul 3 }} {{ .m.none.none }}",
    '{{ semver "1.2.3" }}{{ now | date "2006" }}{{ urlParse "http://a/b?c" }}{{ splitList "," "a,b" | join "-" }}{{ wrap 3 .t }}',
  ],
  words: [
    ...'{{|}}|{{-|-}}|{{ end }}|{{ else }}|{{ if |{{ range |{{ with |{{ define "x" }}|{{ template "x" . }}|{{ break }}|. | .a |.m.k|$|$v := |(|)| | quote| | toJson| | fromJson| | toYaml| | nindent 2|"%d%s%v%x%[3]*.[2]*[1]f"|printf | len | index | slice | eq | lt | and | or | not | list | dict | merge | dig | pluck | sprig'
      .split("|"),
    ..."sortAlpha uniq without chunk trunc substr wrapWith abbrev title camelcase snakecase plural regexFindAll regexSplit semverCompare date dateModify ago duration round floor toString toDecimal atoi int64 float64 typeOf kindOf deepCopy omit pick values keys first last rest initial append prepend concat ternary coalesce empty fail cat quote squote nospace initials swapcase shuffle urlJoin urlParse base dir ext isAbs"
      .split(" "),
    "1",
    "-1",
    "1e9",
    "9223372036854775807",
    '"a"',
    "`",
    "\n",
    "/*",
    "*/",
  ],
  async open() {
    await loadLibraries("regex");
    const all = sprigFunctions({ now: () => new Date(0) });
    const funcs = Object.fromEntries(Object.entries(all).filter(([name]) => !SLOW.test(name)));
    const data = { a: "x", b: "", n: 3n, t: "some text", l: ["a", "b", "c"], m: { k: "v", n: 1.5 } };
    return (input) => {
      parse("t", textOf(input), { funcs }).render(data, { limits: LIMITS });
      return true;
    };
  },
};
