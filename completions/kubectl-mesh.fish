# fish completion of kubectl-mesh. "kubectl mesh" has it through kubectl: see "kubectl mesh completion install-kubectl".
function __kubectl_mesh_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l program (string replace -r '^~' "$HOME" -- $words[1])
    set -l out ($program __complete $words[2..-1] "$current" 2>/dev/null)
    set -l directive (string sub -s 2 -- $out[-1])
    set -e out[-1]
    if not string match -qr '^[0-9]+$' -- "$directive"; or test (math "bitand($directive, 1)") -ne 0
        return
    end

    # Of a word with = the value is completed; fish wants the whole word.
    set -l flag (string match -r -- '^-[^=]*=' "$current")
    set -l value (string replace -r -- '^-[^=]*=' '' "$current")
    if test (math "bitand($directive, 16)") -ne 0
        printf "$flag%s\n" (__fish_complete_directories "$value" '')
    else if test (math "bitand($directive, 8)") -ne 0
        for path in (__fish_complete_path "$value")
            set path (string replace -r '\t.*' '' -- $path)
            if string match -q '*/' -- $path; or contains -- (string replace -r '.*\.' '' -- $path) $out
                printf '%s\n' "$flag$path"
            end
        end
    else
        for line in $out
            printf '%s\n' "$flag$line"
        end
        if test (math "bitand($directive, 4)") -eq 0
            printf "$flag%s\n" (__fish_complete_path "$value")
        end
    end
end
complete --command kubectl-mesh --no-files --arguments '(__kubectl_mesh_complete)'
