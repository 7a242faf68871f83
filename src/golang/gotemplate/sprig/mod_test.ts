import assert from "node:assert/strict";
import { parse } from "../mod.ts";
import { loadLibraries } from "./libraries.ts";
import { sprigFunctions, type SprigWorld } from "./mod.ts";

const world: SprigWorld = {
  now: () => new Date("2024-02-29T12:34:56.789Z"),
  env: (name) => ({ HOME: "/home/a", "1": "one" })[name],
};

function run(template: string, data: Record<string, string> = {}): string {
  return parse("t", template, { funcs: sprigFunctions(world) }).render(data);
}

Deno.test("sprigFunctions has every function of sprig v3.3 that needs no network", () => {
  const names = Object.keys(sprigFunctions(world)).sort();
  assert.equal(names.length, ALL.split(" ").length);
  assert.deepEqual(names, ALL.split(" ").sort());
});

const ALL =
  "hello ago date date_in_zone date_modify dateInZone dateModify duration durationRound htmlDate htmlDateInZone " +
  "must_date_modify mustDateModify mustToDate now toDate unixEpoch abbrev abbrevboth trunc trim upper lower title " +
  "untitle substr repeat trimall trimAll trimSuffix trimPrefix nospace initials randAlphaNum randAlpha randAscii " +
  "randNumeric swapcase shuffle snakecase camelcase kebabcase wrap wrapWith contains hasPrefix hasSuffix quote squote " +
  "cat indent nindent replace plural sha1sum sha256sum sha512sum adler32sum toString atoi int64 int float64 seq " +
  "toDecimal split splitList splitn toStrings until untilStep add1 add sub div mod mul randInt add1f addf subf divf " +
  "mulf biggest max min maxf minf ceil floor round join sortAlpha default empty coalesce all any compact mustCompact " +
  "fromJson toJson toPrettyJson toRawJson mustFromJson mustToJson mustToPrettyJson mustToRawJson ternary deepCopy " +
  "mustDeepCopy typeOf typeIs typeIsLike kindOf kindIs deepEqual env expandenv base dir clean ext isAbs osBase osClean " +
  "osDir osExt osIsAbs b64enc b64dec b32enc b32dec tuple list dict get set unset hasKey pluck keys pick omit merge " +
  "mergeOverwrite mustMerge mustMergeOverwrite values append push mustAppend mustPush prepend mustPrepend first " +
  "mustFirst rest mustRest last mustLast initial mustInitial reverse mustReverse uniq mustUniq without mustWithout has " +
  "mustHas slice mustSlice concat dig chunk mustChunk bcrypt htpasswd genPrivateKey derivePassword buildCustomCert " +
  "genCA genCAWithKey genSelfSignedCert genSelfSignedCertWithKey genSignedCert genSignedCertWithKey encryptAES " +
  "decryptAES randBytes uuidv4 semver semverCompare fail regexMatch mustRegexMatch regexFindAll mustRegexFindAll " +
  "regexFind mustRegexFind regexReplaceAll mustRegexReplaceAll regexReplaceAllLiteral mustRegexReplaceAllLiteral " +
  "regexSplit mustRegexSplit regexQuoteMeta urlParse urlJoin";

Deno.test("env and expandenv read only the environment that is passed in", () => {
  assert.equal(
    run('{{ env "HOME" }}|{{ env "PATH" }}|{{ expandenv "$HOME/${HOME}-$1-$NOPE" }}'),
    "/home/a||/home/a//home/a-one-",
  );
  const bare = parse("t", '{{ env "HOME" }}', { funcs: sprigFunctions({ now: world.now }) });
  assert.equal(bare.render({}), "");
});

Deno.test("now, ago and date use the clock that is passed in", () => {
  assert.equal(run('{{ dateInZone "2006-01-02 15:04:05.000" now "UTC" }}'), "2024-02-29 12:34:56.789");
  assert.equal(run("{{ ago 1709210096 }}|{{ ago (int64 1709206496) }}"), "1s|1h0m1s");
  assert.equal(run("{{ unixEpoch now }}"), "1709210096");
});

Deno.test("random functions keep to their alphabet and length", () => {
  const cases: [string, RegExp][] = [
    ["{{ randAlpha 20 }}", /^[A-Za-z]{20}$/],
    ["{{ randAlphaNum 20 }}", /^[A-Za-z0-9]{20}$/],
    ["{{ randNumeric 20 }}", /^\d{20}$/],
    ["{{ randAscii 20 }}", /^[ -~]{20}$/],
    ["{{ randInt 5 8 }}", /^[567]$/],
    ["{{ randBytes 6 }}", /^[A-Za-z0-9+/]{8}$/],
    ["{{ uuidv4 }}", /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/],
    ["{{ randAlpha 0 }}", /^$/],
  ];
  for (const [template, expected] of cases) assert.match(run(template), expected, template);
  assert.notEqual(run("{{ randAlpha 20 }}"), run("{{ randAlpha 20 }}"));
  assert.equal([...run('{{ shuffle "abcdef" }}')].sort().join(""), "abcdef");
});

Deno.test("genPrivateKey makes keys in the form that Go writes", () => {
  assert.match(
    run('{{ genPrivateKey "ecdsa" }}'),
    /^-----BEGIN EC PRIVATE KEY-----\n[^]+\n-----END EC PRIVATE KEY-----\n$/,
  );
  assert.match(run('{{ genPrivateKey "ed25519" }}'), /^-----BEGIN PRIVATE KEY-----\n/);
  assert.equal(run('{{ genPrivateKey "x" }}'), "Unknown type x");
});

Deno.test("DSA keys are refused, with what to use instead", () => {
  assert.throws(() => run('{{ genPrivateKey "dsa" }}'), /DSA keys are not supported: use "ecdsa", "ed25519" or "rsa"$/);
  const key = "-----BEGIN DSA PRIVATE KEY-----\\nMAA=\\n-----END DSA PRIVATE KEY-----\\n";
  const message = /"DSA PRIVATE KEY" in PEM is not supported: use "PRIVATE KEY", "RSA PRIVATE KEY", "EC PRIVATE KEY"$/;
  assert.throws(() => run(`{{ genCAWithKey "a" 1 "${key}" }}`), message);
});

Deno.test("a function cannot exhaust the memory", () => {
  assert.throws(() => run('{{ repeat 1000000000 "x" }}'), /more than 2097152 elements/);
  assert.throws(() => run("{{ until 1000000000 }}"), /more than 2097152 elements/);
});

Deno.test("calls of slow functions are limited: RSA keys and password hashes, but not other keys", () => {
  const render = (text: string, slow: number) =>
    parse("t", text, { funcs: sprigFunctions(world) }).render({}, { limits: { slow } });
  const tooMany = /calls too many slow functions/;
  assert.throws(() => render('{{ genPrivateKey "rsa" }}', 9), tooMany);
  assert.throws(() => render('{{ range 3 }}{{ derivePassword 1 "pin" "p" "u" "s" }}{{ end }}', 2), tooMany);
  assert.match(render('{{ derivePassword 1 "pin" "p" "u" "s" }}', 2), /^[0-9]{4}$/);
  assert.match(render('{{ range 20 }}{{ genPrivateKey "ed25519" }}{{ end }}', 0), /PRIVATE KEY/);
});

Deno.test("a byte that is not UTF-8 survives base64 in both directions", () => {
  assert.equal(run('{{ b64dec "/4D+" | b64enc }}'), "/4D+");
});

/** Templates that make more and more of little: each ends with an error before it fills the memory. */
const BOMBS: Readonly<Record<string, string>> = {
  concat: "{{ $s := list 1 2 }}{{ range until 40 }}{{ $s = concat $s $s }}{{ end }}",
  append: "{{ $s := list 1 }}{{ range until 1000000 }}{{ $s = append $s $s }}{{ end }}",
  printf: '{{ $s := "a" }}{{ range until 40 }}{{ $s = printf "%s%s" $s $s }}{{ end }}',
  cat: '{{ $s := "a" }}{{ range until 40 }}{{ $s = cat $s $s }}{{ end }}',
  replace: '{{ $s := repeat 1000000 "a" }}{{ $s = replace "a" $s $s }}',
  "replace of nothing": '{{ $s := repeat 1000000 "a" }}{{ $s = replace "" $s $s }}',
  regexReplaceAll: '{{ $s := repeat 10000 "a" }}{{ range until 10 }}{{ $s = regexReplaceAll "a" $s $s }}{{ end }}',
  join: '{{ $s := repeat 1000000 "a" }}{{ join $s (until 1000000) | len }}',
  indent: '{{ $s := repeat 1000000 "\\n" }}{{ indent 1000000 $s | len }}',
  until: "{{ range until 1000000000 }}{{ end }}",
  toJson: "{{ $s := list 1 2 }}{{ range until 40 }}{{ $s = list $s $s }}{{ end }}{{ toJson $s | len }}",
  deepCopy: "{{ $s := list 1 2 }}{{ range until 40 }}{{ $s = list $s $s }}{{ end }}{{ deepCopy $s | len }}",
};

for (const [name, template] of Object.entries(BOMBS)) {
  Deno.test(`a template cannot fill the memory: ${name}`, async () => {
    await loadLibraries(template);
    assert.throws(() => run(template), /exceed|more than|too large/);
  });
}
