import type { GoValue } from "../../../src/core/gotemplate/mod.ts";
import type { Request } from "./oracle.ts";

/** Data of most seeds. All numbers of JSON are float64 in Go. */
const data: GoValue = {
  s: "abc",
  empty: "",
  u: "héllo, 世界 🎉",
  html: `<a href="x">O'Neil & co</a>`,
  n: 42,
  f: 1.5,
  big: 1e21,
  million: 1000000,
  neg: -7,
  zero: 0,
  t: true,
  no: false,
  nul: null,
  list: ["a", "b", "c"],
  nums: [1, 2.5, 1e6],
  mixed: [1, "two", true, null, { k: "v" }, [3]],
  none: [],
  m: { b: 2, a: 1, c: { d: "deep", e: null } },
  em: {},
  pods: [{ name: "x", ports: [80, 443] }, { name: "y", ports: [] }],
  constructor: "own",
};

const operands = [
  `"hi"`, `"héé"`, `""`, `42`, `-42`, `0`, `3.14159`, `1e21`, `1.0`, `true`, `nil`, `.list`, `.m`, `.mixed`, `.n`,
  `'x'`, `.nums`, `.big`, `.f`,
];
const formats = [
  "%v", "%+v", "%#v", "%T", "%t", "%b", "%c", "%d", "%o", "%O", "%q", "%x", "%X", "%U", "%e", "%E", "%f", "%F", "%g",
  "%G", "%s", "%5d|", "%-5d|", "%05d", "%+d", "% d", "%#x", "% x", "%# x", "%#o", "%#q", "%+q", "%#U", "%8.3f|",
  "%-8.2f|", "%08.2f", "%+.2e", "%.3g", "%#g", "%10s|", "%-10s|", "%.2s|", "%6v|", "%06v|", "%.0f", "%z", "%!", "%5t|",
  "%.3d", "%x|%[1]T", "%08b", "%w", "%.2q", "%5c|", "%5q|", "%#b", "%#.3x", "%+x",
];
const oddFormats = [
  `"%d %d" 1`, `"%d" 1 2`, `"%"`, `"%d%%" 5`, `"%[2]d %[1]d" 1 2`, `"%[3]d" 1`, `"%[2]*[1]d|" 1 5`, `"%*d|" 5 1`,
  `"%-*d|" 5 1`, `"%*d|" -5 1`, `"%*d" "x" 1`, `"%.*f" 2 3.14159`, `"%.*f" "x" 3.1`, `"%.*f" -1 3.1`, `"%[x]d" 1`,
  `"%[1]d %d %[1]d" 1 2`, `"%[1" 1`, `"%[]d" 1`, `"%.[2]d" 1 2`, `"no verbs" 1 "a" nil`, `"%s %v" "a"`, `"%é" 1`,
  `"%5%|"`, `"%-010d|" 42`, `"%+05d" 3`, `"% 05d" 3`, `"%x" -255`, `"%X" "héé"`, `"%.1x" "abc"`, `"%q" 'x'`,
  `"%q" 0x1F600`, `"%U" 0x1F600`, `"%#U" 0x1F600`, `"%c" 0x1F600`, `"%c" -1`, `"%q" "a\\tb\\"c\\x00\\u00e9"`,
  `"%+q" "é世"`, `"%#q" "a\`b"`, `"%b" 1.5`, `"%x" 1.5`, `"%X" 0.1`, `"%.3x" 1.999`, `"%x" 0.0`, `"%e" 0.0`,
  `"%g" 100000.0`, `"%g" 1000000.0`, `"%g" 0.0001`, `"%g" 0.00001`, `"%g" 123456789.0`, `"%.3g" 1234.5`, `"%.10g" 1234.5`,
  `"%.0e" 2.5`, `"%.0f" 0.5`, `"%.0f" 1.5`, `"%.0f" 2.5`, `"%.1f" 0.25`, `"%.2f" 1.005`, `"%.20f" 0.1`, `"%.30g" 0.1`,
  `"%f" 1e20`, `"%f" 1e-7`, `"%G" 1e-7`, `"%6.2f%%" 99.5`, `"%v %v" 1e6 1e5`, `"%v" 1e20`, `"%v" 123456789.0`, `"%t" 1`,
  `"%s" true`, `"%d" true`, `"%s" 1.5`, `"%d" "x"`, `"%d" .list`, `"%s" .list`, `"%q" .list`, `"%x" .list`, `"%s" .m`,
  `"%d" .mixed`, `"%5v|" .list`, `"%05d" .nums`, `"%.1f" .nums`, `"%#v" .m`, `"%#v" .mixed`, `"%+v" .pods`, `"%#v" nil`,
  `"%d" nil`, `"%s" nil`, `"%10v|" nil`, `"%v" .nul`, `"%v" .missing`, `"%p" 1`, `"%s" (index .list 0)`, `"%T %T %T" 1 1.0 "s"`,
  `"%T" .m`, `"%T" .list`, `"%T" (len .s)`, `"%T" (index .s 0)`, `"%T" .nul`, `"%#x" "hi"`, `"% X" "hi"`, `"%# X" "hi"`,
  `"%012s|" "hi"`, `"%-012s|" "hi"`, `"%1000001d" 1`, `"%.1000001d" 1`, `"%s%s" "a" "b"`, `"%3c|%-3c|" 'x' 'y'`, `"%#o" 8`,
  `"%O" 8`, `"%#O" 8`, `"%08.3d|" 7`, `"%+.3d" 7`, `"%.0d|" 0`, `"%5.0d|" 0`, `"%+q" 'é'`, `"%#v" 1.0`, `"%#v" "a"`, `"%#v" 1e6`,
];

const core = [
  "", "plain", "{{.s}}", "{{ .s }}", "{{- .s -}}", "a {{- .s -}} b", "a\n {{- .s }}\n b", "{{.s -}}\n\n x", "x \t\n{{- .n}}",
  "{{/* c */}}x", "a {{- /* c */ -}} b", "{{/* a\nb */}}{{.bad.x}}", "{{.n}}", "{{.f}}", "{{.big}}", "{{.million}}", "{{.neg}}",
  "{{.t}}", "{{.nul}}", "{{.missing}}", "{{.missing.x}}", "{{.nul.x}}", "{{.m.zz}}", "{{.m.zz.y}}", "{{.m.c.d}}", "{{.m.c.e.f}}",
  "{{.s.x}}", "{{.n.x}}", "{{.list.x}}", "{{(.nul).x}}", "{{(.m.c).d}}", "{{(index .list 1)}}", "{{(index .pods 0).name}}",
  "{{.list}}", "{{.m}}", "{{.mixed}}", "{{.none}}", "{{.em}}", "{{.nums}}", "{{.pods}}", "{{.}}", "{{$}}", "{{$.s}}", "{{$.m.c}}",
  "{{.constructor}}", "{{.m.constructor}}", "{{.m.__proto__}}", "{{.m.toString}}", "{{.hasOwnProperty}}", "{{index .m \"__proto__\"}}",
  "{{1}}", "{{-1}}", "{{- 1}}", "{{+1}}", "{{0x1F}}", "{{0b101}}", "{{0o17}}", "{{017}}", "{{1_000}}", "{{1_000.5}}", "{{0x_1}}",
  "{{1__0}}", "{{1e3}}", "{{1.5e-7}}", "{{.5}}", "{{5.}}", "{{1.0}}", "{{1e400}}", "{{9223372036854775807}}", "{{9223372036854775808}}",
  "{{-9223372036854775808}}", "{{18446744073709551615}}", "{{18446744073709551616}}", "{{08}}", "{{0x}}", "{{1a}}", "{{1.2.3}}",
  "{{0x1p4}}", "{{0x1.8p1}}", "{{-0x1e}}", "{{1e}}", "{{0i}}", "{{printf \"%T\" 1.0}}", "{{printf \"%T\" 1e3}}", "{{printf \"%T\" -0x1e}}",
  "{{'a'}}", "{{'é'}}", "{{'\\n'}}", "{{'\\x41'}}", "{{'\\''}}", "{{'\\\"'}}", "{{''}}", "{{'ab'}}", "{{'a}}", "{{'\\u00e9'}}", "{{'\\377'}}",
  `{{"a\\tb\\n\\"q\\""}}`, '{{`raw\\n"x"`}}', "{{`a\nb`}}{{.nul.x}}", `{{"\\u4e16\\U0001F389"}}`, `{{"\\xff"}}`, `{{"\\xc3\\xa9"}}`, `{{"\\101"}}`,
  `{{"\\q"}}`, `{{"\\'"}}`, `{{"a`, `{{"a\nb"}}`, "{{`a", `{{"\\ud800"}}`, `{{"\\400"}}`, "{{true}}", "{{false}}", "{{nil}}", "{{nil.x}}",
  "{{true.x}}", "{{1 2}}", `{{"a" "b"}}`, "{{.s 1}}", "{{. 1}}", "{{.m.a 1}}", "{{$x := 1}}{{$x}}", "{{$x := 1}}{{$x = 2}}{{$x}}", "{{$x = 1}}",
  "{{if .no}}{{$x = 1}}{{end}}ok", "{{$x}}", "{{$x := 1}}{{if true}}{{$x := 2}}{{$x}}{{end}}{{$x}}", "{{$x := 1}}{{if true}}{{$x = 2}}{{end}}{{$x}}",
  "{{if .t}}y{{end}}", "{{if .no}}y{{else}}n{{end}}", "{{if .no}}a{{else if .t}}b{{else}}c{{end}}", "{{if .no}}a{{else if .no}}b{{else}}c{{end}}",
  "{{if .missing}}y{{else}}n{{end}}", "{{if .empty}}y{{else}}n{{end}}", "{{if .em}}y{{else}}n{{end}}", "{{if .none}}y{{else}}n{{end}}",
  "{{if 0}}y{{else}}n{{end}}", "{{if 0.0}}y{{else}}n{{end}}", "{{if nil}}y{{end}}", "{{if $x := .s}}{{$x}}{{else}}{{$x}}{{end}}",
  "{{if .no}}a{{else with .s}}b{{end}}", "{{with .s}}{{.}}{{end}}", "{{with .missing}}a{{else}}{{.s}}{{end}}", "{{with .no}}a{{else with .s}}{{.}}{{end}}",
  "{{with .no}}a{{else with .nul}}b{{else}}c{{end}}", "{{with $x := .n}}{{$x}}{{.}}{{end}}", "{{with .m}}{{.a}}{{$.s}}{{end}}", "{{with .s}}{{.x}}{{end}}",
  "{{with .nul}}x{{end}}", "{{with .no}}a{{else if .t}}b{{end}}", "{{range .list}}{{.}},{{end}}", "{{range $e := .list}}{{$e}}{{end}}",
  "{{range $i, $e := .list}}{{$i}}={{$e}};{{end}}", "{{range $k, $v := .m}}{{$k}}={{$v}};{{end}}", "{{range .m}}{{.}} {{end}}",
  "{{range .none}}x{{else}}none{{end}}", "{{range .missing}}x{{else}}none{{end}}", "{{range .nul}}x{{else}}none{{end}}", "{{range .s}}x{{end}}",
  "{{range .n}}x{{end}}", "{{range .t}}x{{end}}", "{{range 3}}{{.}}{{end}}", "{{range $i := 3}}{{$i}}{{end}}", "{{range $i, $j := 3}}{{$i}}{{end}}",
  "{{range 0}}x{{else}}zero{{end}}", "{{range -1}}x{{else}}neg{{end}}", "{{range (len .s)}}{{.}}{{end}}", "{{range 2.0}}x{{end}}",
  "{{range .list}}{{if eq . \"b\"}}{{break}}{{end}}{{.}}{{end}}", "{{range .list}}{{if eq . \"b\"}}{{continue}}{{end}}{{.}}{{end}}",
  "{{range .pods}}{{.name}}:{{range .ports}}{{.}},{{else}}-{{end}} {{end}}", "{{range $i, $p := .pods}}{{range $j, $q := $p.ports}}{{$i}}{{$j}}{{$q}} {{end}}{{end}}",
  "{{$x := 0}}{{range $x = .list}}{{$x}}{{end}}|{{$x}}", "{{$i := 0}}{{$x := 0}}{{range $i, $x = .list}}{{$i}}{{$x}}{{end}}|{{$i}}{{$x}}", "{{range $x := .none}}a{{else}}{{$x}}{{end}}",
  "{{break}}", "{{continue}}", "{{range .list}}{{break 1}}{{end}}", "{{if .t}}{{break}}{{end}}", "{{range .list}}{{with .}}{{break}}{{end}}{{end}}after",
  "{{range .list}}a{{else}}{{break}}{{end}}", "{{range .mixed}}[{{.}}]{{end}}", "{{range .mixed}}{{.k}}{{end}}", "{{range $v := .mixed}}{{$v.k}}{{end}}",
  "{{range $a, $b, $c := .list}}{{end}}", "{{range $a,}}{{end}}", "{{$a, $b := .list}}", "{{range $a, 1 := .list}}{{end}}", "{{with $a, $b := .m}}{{end}}",
  `{{define "x"}}[{{.}}]{{end}}{{template "x"}}`, `{{define "x"}}[{{.}}]{{end}}{{template "x" .s}}`, `{{define "x"}}[{{$}}{{.a}}]{{end}}{{template "x" .m}}`,
  `{{template "x"}}`, `{{template "x" .s}}{{define "x"}}late {{.}}{{end}}`, `{{block "b" .s}}({{.}}){{end}}`, `{{define "b"}}A{{end}}{{block "b" .}}B{{end}}`,
  `{{define "x"}}{{end}}{{define "x"}}2{{end}}{{template "x"}}`, `{{define "x"}}1{{end}}{{define "x"}}2{{end}}`, `{{define "t"}}self{{end}}`, `a{{define "t"}}self{{end}}`,
  `{{define "x"}}{{.a.b.c}}{{end}}\n {{template "x" .}}`, `{{define "x"}}{{$y}}{{end}}`, `{{$y := 1}}{{define "x"}}{{end}}{{$y}}`, `{{define x}}{{end}}`, `{{define "x" .}}{{end}}`,
  `{{define "x"}}`, `{{if true}}{{define "x"}}{{end}}{{end}}`, `{{template x}}`, `{{template}}`, `{{template "x" 1 2}}`, `{{define "r"}}{{if gt . 0}}{{.}}{{template "r" (len (slice "aaaa" 0 (len (slice "aaaa" 1 .))))}}{{end}}{{end}}`,
  `{{define "x"}}a{{template "y" .}}{{end}}{{define "y"}}b{{.s}}{{end}}{{template "x" .}}`, `{{block "x"}}{{end}}`, `{{block "x" .}}{{break}}{{end}}`, `{{range .list}}{{block "x" .}}{{break}}{{end}}{{end}}`,
  "{{end}}", "{{else}}", "{{if .t}}", "{{if}}x{{end}}", "{{if .t}}a{{else}}b{{else}}c{{end}}", "{{range}}{{end}}", "{{with}}{{end}}", "{{if .t}}a{{else if}}b{{end}}",
  "{{", "{{.s", "{{.s}", "{{.s\n", "\n\n{{if\n\n.x", "}}", "{{}}", "{{ }}", "{{|}}", "{{.s|}}", "{{|.s}}", "{{.s | }}", "{{.s | nil}}", "{{.s | 1}}", "{{.s | .n}}", "{{.s | \"x\"}}",
  "{{(.s}}", "{{.s)}}", "{{()}}", "{{(1)}}", "{{((((1))))}}", "{{(1) 2}}", "{{(1).x}}", "{{.s.}}", "{{..s}}", "{{.s..n}}", "{{.s!}}", "{{!}}", "{{@}}", "{{#}}", "{{,}}", "{{:}}", "{{:=}}", "{{=}}",
  "{{$x :}}", "{{$x :=}}", "{{é}}", "{{.é}}", "{{世}}", "{{\u0001}}", "{{\u00a0}}", "{{foo}}", "{{foo .s}}", "{{.s | foo}}", "{{/*}}", "{{/* x */ }}", "{{/* x */.s}}", "{{ /* x */}}", "{{.s /* x */}}",
  "{{- 3 -}} x", "{{-3}}", "{{3-}}", "{{3 -}} x", "{{.s-}}", "{{\"a\" -}}\n b", "{{$ }}", "{{$.}}", "{{$x.y}}", "{{1|2}}", "{{print 1 | print 2}}", "{{.s\n| len\n}}", "{{len\n  .nul}}", "a\nb\n  {{.nul.x}}", "é{{.nul.x}}", "世\né {{ .m.c.e.f }}",
  "{{and}}", "{{and 1}}", "{{and 1 0 2}}", "{{and .t .s}}", "{{or .no .empty .s}}", "{{or .no .empty}}", "{{or 1 (tFail \"x\")}}", "{{and 0 (tFail \"x\")}}", "{{and 1 (tFail \"x\")}}", "{{1 | and 2}}", "{{0 | or}}", "{{.nul | or .no}}", "{{or nil .s}}", "{{and .nul .s}}", "{{and .missing}}",
  "{{not .t}}", "{{not .nul}}", "{{not}}", "{{not 1 2}}", "{{len .s}}", "{{len .u}}", "{{len .list}}", "{{len .m}}", "{{len .n}}", "{{len .nul}}", "{{len nil}}", "{{len .missing}}", "{{len 3}}", "{{len}}", "{{len 1 2}}", "{{.s | len}}", "{{range .mixed}}{{len .}}{{end}}",
  "{{index .list 0}}", "{{index .list 3}}", "{{index .list 4}}", "{{index .list -1}}", "{{index .list 1.0}}", "{{index .list .zero}}", "{{index .list \"a\"}}", "{{index .list nil}}", "{{index .m \"a\"}}", "{{index .m \"zz\"}}", "{{index .m 1}}", "{{index .m nil}}", "{{index .m \"c\" \"d\"}}", "{{index .m \"zz\" \"d\"}}", "{{index .s 0}}", "{{index .u 1}}", "{{index .s 3}}", "{{index .n 0}}", "{{index nil 0}}", "{{index .nul 0}}", "{{index .missing 0}}", "{{index .list}}", "{{index}}", "{{index .pods 0 \"ports\" 1}}", "{{0 | index .list}}", "{{index .mixed 3 0}}", "{{(index .m \"zz\").x}}", "{{(index .m \"c\").d}}",
  "{{slice .s 1}}", "{{slice .s 1 2}}", "{{slice .s}}", "{{slice .s 1 2 3}}", "{{slice .s 2 1}}", "{{slice .s 4}}", "{{slice .s -1}}", "{{slice .u 0 2}}|{{slice .u 1 3}}", "{{slice .u 0 2}}{{slice .u 2 3}}", "{{slice .list 1}}", "{{slice .list 0 2}}", "{{slice .list 1 1}}", "{{slice .list 0 1 2}}", "{{slice .list 0 2 1}}", "{{slice .n}}", "{{slice nil}}", "{{slice .s \"a\"}}", "{{slice .list 0 1 2 3}}", "{{slice .m 1}}",
  "{{eq 1 1}}", "{{eq 1 2}}", "{{eq 1 2 1}}", "{{eq 1 1.0}}", "{{eq .n 42}}", "{{eq .n 42.0}}", "{{eq .s \"abc\"}}", "{{eq .s .n}}", "{{eq nil nil}}", "{{eq nil 1}}", "{{eq 1 nil}}", "{{eq .nul nil}}", "{{eq .nul .missing}}", "{{eq .nul .no}}", "{{eq true true}}", "{{eq .list .list}}", "{{eq .list nil}}", "{{eq .m .m}}", "{{eq .m .list}}", "{{eq .s .list}}", "{{eq 1}}", "{{eq}}", "{{1 | eq 1}}", "{{eq .t 1}}", "{{eq 'a' 97}}", "{{eq (len .s) 3}}", "{{eq (index .s 0) 97}}", "{{eq .em .em}}",
  "{{ne 1 2}}", "{{ne 1 1.0}}", "{{ne 1 2 3}}", "{{lt 1 2}}", "{{lt 2 1}}", "{{lt 1 2.0}}", "{{lt \"a\" \"b\"}}", "{{lt \"Z\" \"a\"}}", "{{lt \"é\" \"z\"}}", "{{lt true false}}", "{{lt nil 1}}", "{{lt 1 nil}}", "{{lt .list .list}}", "{{le 1 1}}", "{{le 2 1}}", "{{gt .n 3.0}}", "{{gt .n 3}}", "{{ge 1 1}}", "{{ge 1 2}}", "{{gt \"b\" \"a\"}}", "{{le .nul 1}}", "{{ge true true}}", "{{lt (index .s 0) 98}}", "{{lt 98 (index .s 0)}}",
  "{{print 1 2 3}}", "{{print \"a\" 1 2 \"b\" \"c\"}}", "{{print}}", "{{print nil}}", "{{print .nul .missing}}", "{{println 1 \"a\"}}", "{{println}}", "{{print .list .m}}", "{{print 1.0 1e6 1e21}}", "{{print true false}}", "{{html .html}}", "{{html 1 2}}", "{{html .nul}}", "{{html \"a\\x00b\"}}", "{{js .html}}", "{{js .u}}", "{{js \"a\\n\\t\\\\\\x7f\\u00a0\"}}", "{{urlquery .html}}", "{{urlquery .u}}", "{{urlquery \"a b+c~d\"}}", "{{.html | html | urlquery}}", "{{js .list}}", "{{html .missing \"x\"}}",
  "{{printf 1}}", "{{printf}}", "{{printf .n}}", "{{printf .s}}", "{{printf nil}}", "{{\"x\" | printf \"%s-%s\" \"y\"}}", "{{printf \"%d\" 1 | printf \"%s!\"}}", "{{call}}", "{{call nil}}", "{{call .s}}", "{{call tFunc 1 2}}", "{{call tFunc}}", "{{call tFunc 1}}", "{{call tFunc 1 \"a\"}}", "{{call tFunc 1 nil}}", "{{call tFunc (index .s 0) 1}}", "{{call (tFunc) 1 2}}", "{{tFunc 1}}", "{{call .nul 1}}", "{{call .missing}}", "{{1 | call tFunc 2}}",
  "{{tInt 1}}", "{{tInt 1.0}}", "{{tInt 1.5}}", "{{tInt \"a\"}}", "{{tInt .n}}", "{{tInt nil}}", "{{tInt .missing}}", "{{tInt .nul}}", "{{tInt64 1}}", "{{tInt64 (len .s)}}", "{{tInt64 (tInt 1)}}", "{{tUint8 1}}", "{{tUint8 -1}}", "{{tUint8 'a'}}", "{{tUint8 256}}", "{{tFloat 1}}", "{{tFloat 1.5}}", "{{tFloat .n}}", "{{tFloat \"a\"}}", "{{tString \"a\"}}", "{{tString 1}}", "{{tString .n}}", "{{tString .nul}}", "{{tString nil}}", "{{tString true}}", "{{tBool true}}", "{{tBool 1}}", "{{tBool .s}}", "{{tAny nil}}", "{{tAny .nul}}", "{{tAny .missing}}", "{{tAny 1.0}}", "{{tMap .m}}", "{{tMap .list}}", "{{tMap nil}}", "{{tMap .missing}}", "{{tMap .nul}}", "{{tList .list}}", "{{tList .m}}", "{{tMap 1}}", "{{tMany \"a\"}}", "{{tMany \"a\" 1 2}}", "{{tMany}}", "{{tMany \"a\" \"b\"}}", "{{3 | tMany \"a\" 1}}", "{{\"a\" | tMany}}", "{{tFail \"x\"}}", "{{.s | tFail}}", "{{tString 1 | len}}", "{{tInt 1 2}}", "{{tInt}}", "{{tNil}}", "{{(tNil).x}}", "{{tNil.x}}", "{{(tAny .m).a}}", "{{tAny.x}}", "{{len (tString .n)}}", "{{tString (print 1)}}", "{{tString (tNil)}}", "{{tAny tNil}}", "{{print (tInt 1) (tFail \"deep\")}}", "{{if tFail \"x\"}}{{end}}", "{{range tFail \"x\"}}{{end}}", "{{with $x := tFail \"x\"}}{{end}}",
  "{{if and .t (gt .n 1.0)}}y{{end}}", "{{$x := .m}}{{$x.a}}{{$x.c.d}}", "{{$x := .nul}}{{$x.a}}", "{{$x := .s}}{{$x.a}}", "{{$x := .m}}{{$x.c.e.f}}", "{{.m.c.d.e}}", "{{with .m}}{{.c.d.e}}{{end}}", "{{range .list}}{{.x}}{{end}}", "{{range .mixed}}{{.x.y}}{{end}}", "{{($x := 1)}}{{$x}}", "{{tAny ($y := .s)}}{{$y}}", "{{$x := 1 | print 2}}{{$x}}", "{{$x:=1}}{{$x}}", "{{$x,$y}}", "{{$ := 1}}{{$}}", "{{$x := $}}{{$x.s}}", "{{range $i, $_ := .list}}{{$i}}{{end}}", "{{.list | len | print}}", "{{ .s | printf \"%s\" | printf \"%q\" }}", "{{.m.a | tAny | print}}", "a{{if .t}}\n  b\n{{- end}}\nc", "{{- range .list}}\n- {{.}}\n{{- end}}", "{{if .t -}} x {{- else -}} y {{- end -}} z",
];

const missingKeys = ["{{.x}}", "{{.x.y}}", "{{.m.x}}", "{{index .m \"x\"}}", "{{if .x}}a{{else}}b{{end}}", "{{with .x}}a{{end}}", "{{.nul.x}}", "{{(.x).y}}", "{{print .x}}", "{{range .x}}{{end}}"];

const structs = [
  "{{.Name}}", "{{.Labels}}", "{{.Labels.app}}", "{{.Labels.zz}}", "{{index .Labels \"zz\"}}|", "{{eq (index .Labels \"zz\") \"\"}}", "{{.Empty}}", "{{.Empty.x}}", "{{index .Empty \"x\"}}", "{{len .Empty}}", "{{.Args}}", "{{.Ports}}",
  "{{.First}}", "{{.First.Name}}", "{{.First.Number}}", "{{.None}}", "{{.None.Name}}", "{{.None.Safe}}", "{{.None.Nope}}", "{{.First.Safe}}", "{{.First.Nope}}", "{{.Nope}}", "{{.Name.x}}", "{{.Replicas}}", "{{.Mode}}", "{{.Mode | printf \"%s\"}}", "{{.Any}}", "{{.Any.x}}", "{{.Ready}}",
  "{{.Hello}}", "{{.Hello.x}}", "{{.Hello 1}}", "{{.Join \"a\" 1}}", "{{.Join \"a\"}}", "{{.Join 1 1}}", "{{1 | .Join \"a\"}}", "{{.Fail}}", "{{.Name 1}}", "{{if .None}}y{{else}}n{{end}}", "{{if .First}}y{{end}}", "{{with .None}}x{{else}}nil{{end}}", "{{range .Ports}}{{.Name}}{{.Number}} {{end}}", "{{range .Labels}}[{{.}}]{{end}}", "{{range $i, $a := .Args}}{{$i}}{{$a}}{{end}}",
  "{{(index .Ports 1).Name}}", "{{(index .Ports 5).Name}}", "{{printf \"%v\" (index .Ports 0)}}", "{{printf \"%+v\" (index .Ports 0)}}", "{{printf \"%#v\" (index .Ports 0)}}", "{{printf \"%T\" .Ports}}", "{{printf \"%T\" .Labels}}", "{{printf \"%#v\" .Args}}", "{{printf \"%#v\" .Labels}}", "{{printf \"%d\" (index .Ports 0)}}", "{{printf \"%T\" .First}}", "{{printf \"%v\" .First}}", "{{printf \"%+v\" .First}}", "{{printf \"%T %v\" .Mode .Mode}}", "{{eq .First.Number 8080}}", "{{lt .First.Priority 0}}", "{{gt .First.Big 5}}", "{{eq .First.Number 8080.0}}", "{{.Labels.app.x}}", "{{len .Ports}}", "{{len .First}}", "{{slice .Args 1}}", "{{printf \"%T\" (slice .Args 1)}}", "{{range .None}}{{end}}", "{{range .First}}{{end}}", "{{index .None 0}}", "{{len .None}}", "{{eq .None nil}}", "{{tString .Name}}", "{{tMap .Labels}}", "{{tInt .First.Number}}", "{{tInt64 .First.Number}}", "{{not .None}}", "{{and .None 1}}", "{{html .First}}", "{{print .First.Big .First.Priority}}", "{{printf \"%x\" .First.Big}}", "{{printf \"%#v\" .First.Big}}",
];
const ints = ["{{.}}", "{{.i}}", "{{.u64}}", "{{eq .i .u8}}", "{{eq .u8 3}}", "{{lt .i8 .u64}}", "{{gt .u64 .i8}}", "{{eq .i .i64}}", "{{range .u8}}{{.}}{{end}}", "{{range .i8}}x{{else}}e{{end}}", "{{range $i := .i64}}{{printf \"%T\" $i}}{{end}}", "{{printf \"%T\" .u8}}", "{{index \"abc\" .u8}}", "{{index \"abc\" .i64}}", "{{slice \"abc\" .i}}", "{{printf \"%*d|\" .u8 1}}", "{{printf \"%#v\" .u8}}", "{{printf \"%v\" .}}", "{{printf \"%c\" .u64}}", "{{range $a, $b := .u8}}{{end}}"];

const delims: readonly Omit<Request, "name">[] = [
  { template: "[[.s]] {{.s}}", delims: ["[[", "]]"], data },
  { template: "[[- if .t -]] a [[- else]]b[[end]]", delims: ["[[", "]]"], data },
  { template: "[[/* c */]]x[[range .list]][[.]][[end]]", delims: ["[[", "]]"], data },
  { template: "<% .s %>{{", delims: ["<%", "%>"], data },
  { template: "|.s|", delims: ["|", "|"], data },
  { template: "((.s)) ((len .s))", delims: ["((", "))"], data },
  { template: "[[.nul.x]]", delims: ["[[", "]]"], data },
  { template: "[[index .list 0]]", delims: ["[[", "]]"], data },
  { template: "$.s$", delims: ["$", "$"], data },
];

/** Every recorded template, in a fixed order. */
export function seeds(): Request[] {
  const all: Omit<Request, "name">[] = [
    ...core.map((template) => ({ template, data })),
    ...oddFormats.map((args) => ({ template: `{{printf ${args}}}`, data })),
    ...formats.map((format) => ({ template: operands.map((one) => `{{printf ${JSON.stringify(format)} ${one}}}\n`).join(""), data })),
    ...operands.map((one) => ({ template: `{{${one === "nil" ? "tAny nil" : one}}} {{print ${one} ${one}}} {{if ${one}}}y{{end}} {{html ${one}}}`, data })),
    ...(["zero", "error", "default"] as const).flatMap((missingKey) => missingKeys.map((template) => ({ template, missingKey, data }))),
    ...structs.map((template) => ({ template, go: "pod" })),
    ...ints.map((template) => ({ template, go: "ints" })),
    ...["{{.}}", "{{.x}}", "{{range .}}{{end}}", "{{$}}", "{{.x.y}}"].map((template) => ({ template, go: "nil" })),
    ...["{{.}}", "{{range .}}{{.}}{{end}}", "{{index . 1}}", "{{printf \"%T\" .}}", "{{.x}}"].map((template) => ({ template, go: "list" })),
    ...delims,
  ];
  return all.map((one) => ({ name: "t", ...one }));
}
