# bash completion of kubectl-mesh. "kubectl mesh" has it through kubectl: see "kubectl mesh completion install-kubectl".
_kubectl_mesh() {
  local rest=${COMP_LINE:0:COMP_POINT} words=() i word
  # bash also splits words at = and :. Those that touch are one.
  for ((i = 0; i <= COMP_CWORD; i++)); do
    if [[ $i == 0 || $rest == [[:space:]]* ]]; then words+=(""); fi
    rest=${rest#"${rest%%[![:space:]]*}"}
    word=${COMP_WORDS[i]}
    if [[ $i == "$COMP_CWORD" ]]; then word=$rest; fi
    words[${#words[@]} - 1]+=$word
    rest=${rest#"$word"}
  done
  # As the shell would pass them, without running anything that stands in them.
  words=("${words[@]#[\"\']}")
  words=("${words[@]%[\"\']}")

  local out directive current=${words[${#words[@]} - 1]}
  out=$("${words[0]/#\~/$HOME}" __complete "${words[@]:1}" 2>/dev/null) || return
  directive=${out##*:}
  out=${out%:*}
  if ((directive & 1)); then return; fi

  # Only what stands behind the last = or : is replaced.
  if [[ $current == -*=* ]]; then current=${current#*=}; fi
  local line kept=""
  if [[ $COMP_WORDBREAKS == *:* && $current == *:* ]]; then kept=${current%"${current##*:}"}; fi
  COMPREPLY=()
  if ((directive & 16)); then
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -d -- "$current")
    compopt -o filenames 2>/dev/null
    return
  fi
  if ((directive & 8)); then
    while IFS= read -r line; do
      if [[ -d ${line/#\~\//$HOME/} || $'\n'$out == *$'\n'"${line##*.}"$'\n'* ]]; then COMPREPLY+=("$line"); fi
    done < <(compgen -f -- "$current")
    compopt -o filenames 2>/dev/null
    return
  fi
  while IFS= read -r line; do
    line=${line%%$'\t'*}
    if [[ -z $line || $line != "$current"* ]]; then continue; fi
    line=${line#"$kept"}
    if [[ $line == *[!A-Za-z0-9_./:@,+=%-]* ]]; then printf -v line %q "$line"; fi
    COMPREPLY+=("$line")
  done <<<"$out"
  if ((directive & 2)); then compopt -o nospace 2>/dev/null; fi
  if ((directive & 4)); then return; fi
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
  compopt -o filenames 2>/dev/null
}
complete -F _kubectl_mesh kubectl-mesh
