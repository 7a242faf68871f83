/** Words with a meaning in YAML and JSON. */
export const YAML_WORDS: readonly string[] = [
  ..."---\n|...\n|: |- |? |, |{|}|[|]|&a |*a|!!str |!!binary |!t |<<: |<<: *a\n|#|# c\n|'|\"|''|\\|\\n|\\u0041|\\ud800|%YAML 1.1\n|%TAG ! x\n"
    .split("|"),
  "|\n",
  "|+\n",
  ">-\n",
  "|2\n",
  "\t",
  "\r\n",
  "\n",
  "\n\n\n",
  "  ",
  " ",
  "\uFEFF",
  "\u0000",
  "\u2028",
  "\u{1F600}",
  ..."~|null|true|no|y|010|0x1f|1e3|1e999|-0|.inf|.nan|1:30|2001-01-01|9223372036854775808|18446744073709551616|1_000|__proto__|constructor|kind: List\nitems:\n"
    .split("|"),
];

export const JSON_WORDS: readonly string[] = [
  ...'{|}|[|]|,|:|"|\\"|\\u0000|\\ud800|null|true|false|0|-1|1.5|1e309|9223372036854775808|""|{}|[]|[[[[|{"a":|"__proto__":|"constructor":'
    .split("|"),
];
