# PowerShell completion of kubectl-mesh. "kubectl mesh" has it through kubectl: see "kubectl mesh completion install-kubectl".
Register-ArgumentCompleter -Native -CommandName 'kubectl-mesh' -ScriptBlock {
    param($WordToComplete, $CommandAst, $CursorPosition)
    $Words = @($CommandAst.CommandElements | Where-Object { $_.Extent.StartOffset -lt $CursorPosition } | ForEach-Object { "$_" })
    $Program = $Words[0]
    $Before = @($Words | Select-Object -Skip 1)
    if ($WordToComplete -ne '' -and $Before.Count -gt 0) {
        $Before = @($Before | Select-Object -SkipLast 1)
    }
    # PowerShell before 7.3 drops an empty argument.
    $Last = $WordToComplete
    if ($Last -eq '' -and $PSVersionTable.PSVersion -lt [version]'7.3') {
        $Last = '""'
    }
    $Lines = @(& $Program __complete @Before $Last 2>$null)
    $Directive = 1
    if ($Lines.Count -gt 0) {
        $Directive = [int]($Lines[-1].TrimStart(':'))
    }
    if ($Directive -band 1) {
        return ''
    }

    # Of a word with = the value is completed; PowerShell wants the whole word.
    $Flag = ''
    if ($WordToComplete -match '^-[^=]*=') {
        $Flag = $Matches[0]
    }
    # Endings of files are no values: PowerShell completes files by itself if it gets nothing.
    if ($Directive -band 24) {
        return
    }
    $Values = @($Lines | Select-Object -SkipLast 1 | ForEach-Object {
            $Value, $Description = $_ -split "`t", 2
            if (-not $Description) {
                $Description = $Value
            }
            $Space = ' '
            if ($Directive -band 2) {
                $Space = ''
            }
            [System.Management.Automation.CompletionResult]::new("$Flag$Value$Space", $Value, 'ParameterValue', $Description)
        })
    if ($Values.Count -gt 0) {
        return $Values
    }
    if ($Directive -band 4) {
        return ''
    }
}
