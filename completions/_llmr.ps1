
using namespace System.Management.Automation
using namespace System.Management.Automation.Language

Register-ArgumentCompleter -Native -CommandName 'llmr' -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)

    $commandElements = $commandAst.CommandElements
    $command = @(
        'llmr'
        for ($i = 1; $i -lt $commandElements.Count; $i++) {
            $element = $commandElements[$i]
            if ($element -isnot [StringConstantExpressionAst] -or
                $element.StringConstantType -ne [StringConstantType]::BareWord -or
                $element.Value.StartsWith('-') -or
                $element.Value -eq $wordToComplete) {
                break
        }
        $element.Value
    }) -join ';'

    $completions = @(switch ($command) {
        'llmr' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('chat', 'chat', [CompletionResultType]::ParameterValue, 'Send one prompt down the ladder; the answer alone goes to stdout')
            [CompletionResult]::new('session', 'session', [CompletionResultType]::ParameterValue, 'The conversations that `chat --session` keeps')
            [CompletionResult]::new('classify', 'classify', [CompletionResultType]::ParameterValue, 'Say what captured failures are')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show every deployment: eligible, or held by what, why, until when and who said so')
            [CompletionResult]::new('reset', 'reset', [CompletionResultType]::ParameterValue, 'Clear holds, at once for all processes')
            [CompletionResult]::new('hold', 'hold', [CompletionResultType]::ParameterValue, 'Bar deployments by hand, at once for all processes')
            [CompletionResult]::new('top', 'top', [CompletionResultType]::ParameterValue, 'Watch everything live: ladders, deployments, quotas, attempts and figures')
            [CompletionResult]::new('plan', 'plan', [CompletionResultType]::ParameterValue, 'Show who would be asked now, in which order, and why each other is skipped; sends nothing')
            [CompletionResult]::new('log', 'log', [CompletionResultType]::ParameterValue, 'Show requests and their attempts; with one id its whole trail')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Show what the log comes to: success, step depth, retries, breakers, failure classes, times, tokens, cost')
            [CompletionResult]::new('guard', 'guard', [CompletionResultType]::ParameterValue, 'Say whether a program that makes its own calls may call now: exit 0, or 4 and until when')
            [CompletionResult]::new('record', 'record', [CompletionResultType]::ParameterValue, 'Say what came of a call that another program made')
            [CompletionResult]::new('probe', 'probe', [CompletionResultType]::ParameterValue, 'Send the probes that are due, so that no request has to; for cron')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Validate the config and the catalogue offline, and count the failure domains of each ladder')
            [CompletionResult]::new('alarm', 'alarm', [CompletionResultType]::ParameterValue, 'What the alarm has told, and whether anybody hears it')
            [CompletionResult]::new('baseline', 'baseline', [CompletionResultType]::ParameterValue, 'Show or forget the verdicts that `llmr chat --baseline` compares with')
            [CompletionResult]::new('caps', 'caps', [CompletionResultType]::ParameterValue, 'Show the catalogue: limits, reset clocks, the next reset, and where each number comes from')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Write a commented llmr.toml from the keys that the environment holds; never overwrites')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Show what llmr does on a night when six providers fail: no key, no network, no config')
            [CompletionResult]::new('drill', 'drill', [CompletionResultType]::ParameterValue, 'What your ladder does when its providers fail: each of them replaced by a scripted one on loopback')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions of a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the man page')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'llmr;chat' {
            [CompletionResult]::new('-m', '-m', [CompletionResultType]::ParameterName, 'A ladder, or provider/model[@credential] to ask just that')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'A ladder, or provider/model[@credential] to ask just that')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Standing instructions; @FILE reads them from a file')
            [CompletionResult]::new('--system', '--system', [CompletionResultType]::ParameterName, 'Standing instructions; @FILE reads them from a file')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'A file appended to the prompt as context (repeatable)')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'A file appended to the prompt as context (repeatable)')
            [CompletionResult]::new('-a', '-a', [CompletionResultType]::ParameterName, 'An image to show with the prompt: PNG, JPEG, GIF or WebP (repeatable)')
            [CompletionResult]::new('--image', '--image', [CompletionResultType]::ParameterName, 'An image to show with the prompt: PNG, JPEG, GIF or WebP (repeatable)')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'A JSON Schema that the answer must satisfy')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'What must be true of the answer, in CEL: of `answer` (its JSON), `text` and `input` (repeatable)')
            [CompletionResult]::new('--messages', '--messages', [CompletionResultType]::ParameterName, 'A whole conversation as JSON: [{"role": "user", "content": "…"}, …]')
            [CompletionResult]::new('--max-tokens', '--max-tokens', [CompletionResultType]::ParameterName, 'The longest answer, in tokens')
            [CompletionResult]::new('--temperature', '--temperature', [CompletionResultType]::ParameterName, 'Randomness of the answer')
            [CompletionResult]::new('--stop', '--stop', [CompletionResultType]::ParameterName, 'A text at which the answer ends (repeatable)')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'A further field of the provider''s request; VALUE is JSON, or else taken as a string (repeatable)')
            [CompletionResult]::new('--option', '--option', [CompletionResultType]::ParameterName, 'A further field of the provider''s request; VALUE is JSON, or else taken as a string (repeatable)')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'The id that the log keeps of this request')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'How long the whole request may take')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How long to wait for the first step to return when all are held')
            [CompletionResult]::new('--pin', '--pin', [CompletionResultType]::ParameterName, 'Ask only this provider')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'Do not ask this provider (repeatable)')
            [CompletionResult]::new('--max-cost', '--max-cost', [CompletionResultType]::ParameterName, 'USD that the request may cost at most; a step that could exceed it is skipped')
            [CompletionResult]::new('--max-cost-per-1k', '--max-cost-per-1k', [CompletionResultType]::ParameterName, 'USD that 1,000 tokens of prompt and answer may cost at most; a step that costs more is skipped')
            [CompletionResult]::new('--max-latency', '--max-latency', [CompletionResultType]::ParameterName, 'How long an answer may usually take: a step of which one in 20 lately took longer is skipped')
            [CompletionResult]::new('--require', '--require', [CompletionResultType]::ParameterName, 'Ask only deployments that can do this: tools, json_schema, images (repeatable)')
            [CompletionResult]::new('--on-invalid', '--on-invalid', [CompletionResultType]::ParameterName, 'What becomes of an answer that is not as asked, once it was repaired in vain: ask the next step, hand it out as it is (exit code 7), or stop (7)')
            [CompletionResult]::new('--max-steps', '--max-steps', [CompletionResultType]::ParameterName, 'Ask at most so many different deployments')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Go on with a conversation that the state keeps, or begin one; without a prompt, with what is under way')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'Let the model have this tool of the config run, besides those of its ladder (repeatable)')
            [CompletionResult]::new('--tool-choice', '--tool-choice', [CompletionResultType]::ParameterName, 'Whether the model begins with a tool: auto, none, required, or the name of one')
            [CompletionResult]::new('--max-tool-rounds', '--max-tool-rounds', [CompletionResultType]::ParameterName, 'How often in a row the model may have tools run before it must answer in words')
            [CompletionResult]::new('--repeat', '--repeat', [CompletionResultType]::ParameterName, 'Send the request so many times, each as a request of its own, and tell how far the answers agree; printed is the one that agrees with most')
            [CompletionResult]::new('--band', '--band', [CompletionResultType]::ParameterName, 'What is allowed of a field of the answer, by its JSON pointer, instead of what the ladder says: of numbers the largest spread (/score=0.1), of all else the least agreement (/verdict=0.8); outside of it the exit code is 7 (repeatable)')
            [CompletionResult]::new('--baseline', '--baseline', [CompletionResultType]::ParameterName, 'Compare the fields that have a band with those that were kept under this name for the same input; the first answer is kept')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--stream', '--stream', [CompletionResultType]::ParameterName, 'Show the answer as it comes (default on a terminal)')
            [CompletionResult]::new('--no-stream', '--no-stream', [CompletionResultType]::ParameterName, 'Show the answer when it is whole')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object instead of the answer')
            [CompletionResult]::new('--prefer-cache', '--prefer-cache', [CompletionResultType]::ParameterName, 'Ask those first that lately served the beginning of this prompt and may have it in their cache')
            [CompletionResult]::new('--require-cache', '--require-cache', [CompletionResultType]::ParameterName, 'Ask nobody else, where there is one that lately served the beginning of this prompt')
            [CompletionResult]::new('--no-fallback', '--no-fallback', [CompletionResultType]::ParameterName, 'Ask only the first eligible step')
            [CompletionResult]::new('--no-repair', '--no-repair', [CompletionResultType]::ParameterName, 'Do not tell a deployment what was wrong with its answer, to have it mended')
            [CompletionResult]::new('--no-tools', '--no-tools', [CompletionResultType]::ParameterName, 'Let the model have no tools run')
            [CompletionResult]::new('--yes-tools', '--yes-tools', [CompletionResultType]::ParameterName, 'Run tools with side effects without asking')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show who would be asked and send nothing, like `llmr plan`')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;session' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'All of them, the one that was used last first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'One of them: what was said, and which tools were run')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Begin one that has nothing in it yet')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Remove conversations with all that was said and run')
            [CompletionResult]::new('settle', 'settle', [CompletionResultType]::ParameterValue, 'Say what came of a tool''s call of which nobody knows whether it did its work')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'llmr;session;list' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object for each')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;session;show' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object, which `chat --messages` reads')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;session;new' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;session;rm' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'Also those with a call of which nobody knows whether it did its work')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;session;settle' {
            [CompletionResult]::new('--result', '--result', [CompletionResultType]::ParameterName, 'It did; this is what the model is told (@FILE reads it)')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--again', '--again', [CompletionResultType]::ParameterName, 'It did not; let it run once more')
            [CompletionResult]::new('--decline', '--decline', [CompletionResultType]::ParameterName, 'It did not, and it is not to be run; the model is told so')
            [CompletionResult]::new('--force', '--force', [CompletionResultType]::ParameterName, 'It is not running any more, although the process that began it was killed')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;session;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'All of them, the one that was used last first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'One of them: what was said, and which tools were run')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Begin one that has nothing in it yet')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Remove conversations with all that was said and run')
            [CompletionResult]::new('settle', 'settle', [CompletionResultType]::ParameterValue, 'Say what came of a tool''s call of which nobody knows whether it did its work')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'llmr;session;help;list' {
            break
        }
        'llmr;session;help;show' {
            break
        }
        'llmr;session;help;new' {
            break
        }
        'llmr;session;help;rm' {
            break
        }
        'llmr;session;help;settle' {
            break
        }
        'llmr;session;help;help' {
            break
        }
        'llmr;classify' {
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'What the input is')
            [CompletionResult]::new('--fail-on', '--fail-on', [CompletionResultType]::ParameterName, 'Exit with 1 when a failure of one of these classes occurs')
            [CompletionResult]::new('--provider', '--provider', [CompletionResultType]::ParameterName, 'The provider of records that name none')
            [CompletionResult]::new('--tz', '--tz', [CompletionResultType]::ParameterName, 'The time zone of log lines that name none')
            [CompletionResult]::new('--jobs', '--jobs', [CompletionResultType]::ParameterName, 'How many blocks to work on at the same time; as many as there are cores when not given')
            [CompletionResult]::new('--class-help', '--class-help', [CompletionResultType]::ParameterName, 'Explain a class instead of reading anything')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object per failure')
            [CompletionResult]::new('--summary', '--summary', [CompletionResultType]::ParameterName, 'Only the counts per class and provider')
            [CompletionResult]::new('--explain', '--explain', [CompletionResultType]::ParameterName, 'Show what was seen, every rule that matched, why the winner won, and what follows')
            [CompletionResult]::new('--redact', '--redact', [CompletionResultType]::ParameterName, 'Write each failure as a capture that can be shared')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;status' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--held', '--held', [CompletionResultType]::ParameterName, 'Only what is held')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;reset' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Clear everything')
            [CompletionResult]::new('--cooldown', '--cooldown', [CompletionResultType]::ParameterName, 'Clear cooldowns; with none of these flags, all holds are meant')
            [CompletionResult]::new('--quarantine', '--quarantine', [CompletionResultType]::ParameterName, 'Clear quarantines')
            [CompletionResult]::new('--circuit', '--circuit', [CompletionResultType]::ParameterName, 'Close circuits and forget their failures')
            [CompletionResult]::new('--usage', '--usage', [CompletionResultType]::ParameterName, 'Forget what is counted of limits and what was learned of them')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would be cleared and clear nothing')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object: what was cleared, and what can be asked thanks to it')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;hold' {
            [CompletionResult]::new('--for', '--for', [CompletionResultType]::ParameterName, 'For how long, like 30m, 6h or 7d; without this or --until, until `llmr reset`')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'Until when, like 2026-08-23T03:00:00Z')
            [CompletionResult]::new('--why', '--why', [CompletionResultType]::ParameterName, 'The reason, which everybody is told whom the hold keeps back')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what would be held and hold nothing')
            [CompletionResult]::new('-y', '-y', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--yes', '--yes', [CompletionResultType]::ParameterName, 'Do not ask')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object: what is held, whom that keeps back, and who is left on their ladders')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;top' {
            [CompletionResult]::new('--ladder', '--ladder', [CompletionResultType]::ParameterName, 'Only this ladder')
            [CompletionResult]::new('--interval', '--interval', [CompletionResultType]::ParameterName, 'How often the state is read')
            [CompletionResult]::new('--span', '--span', [CompletionResultType]::ParameterName, 'How far back the figures go: 1h, 6h, 24h or 7d')
            [CompletionResult]::new('--theme', '--theme', [CompletionResultType]::ParameterName, 'Colours for this ground; `t` changes them')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--read-only', '--read-only', [CompletionResultType]::ParameterName, 'Nothing can be changed from here')
            [CompletionResult]::new('--once', '--once', [CompletionResultType]::ParameterName, 'Print one snapshot')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Print one snapshot as one JSON object')
            [CompletionResult]::new('--no-mouse', '--no-mouse', [CompletionResultType]::ParameterName, 'Leave the mouse to the terminal')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Draw with ASCII alone, as where the locale is not UTF-8')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;plan' {
            [CompletionResult]::new('-m', '-m', [CompletionResultType]::ParameterName, 'A ladder, or provider/model[@credential] to ask just that')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'A ladder, or provider/model[@credential] to ask just that')
            [CompletionResult]::new('-s', '-s', [CompletionResultType]::ParameterName, 'Standing instructions; @FILE reads them from a file')
            [CompletionResult]::new('--system', '--system', [CompletionResultType]::ParameterName, 'Standing instructions; @FILE reads them from a file')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'A file appended to the prompt as context (repeatable)')
            [CompletionResult]::new('--file', '--file', [CompletionResultType]::ParameterName, 'A file appended to the prompt as context (repeatable)')
            [CompletionResult]::new('-a', '-a', [CompletionResultType]::ParameterName, 'An image to show with the prompt: PNG, JPEG, GIF or WebP (repeatable)')
            [CompletionResult]::new('--image', '--image', [CompletionResultType]::ParameterName, 'An image to show with the prompt: PNG, JPEG, GIF or WebP (repeatable)')
            [CompletionResult]::new('--schema', '--schema', [CompletionResultType]::ParameterName, 'A JSON Schema that the answer must satisfy')
            [CompletionResult]::new('--check', '--check', [CompletionResultType]::ParameterName, 'What must be true of the answer, in CEL: of `answer` (its JSON), `text` and `input` (repeatable)')
            [CompletionResult]::new('--messages', '--messages', [CompletionResultType]::ParameterName, 'A whole conversation as JSON: [{"role": "user", "content": "…"}, …]')
            [CompletionResult]::new('--max-tokens', '--max-tokens', [CompletionResultType]::ParameterName, 'The longest answer, in tokens')
            [CompletionResult]::new('--temperature', '--temperature', [CompletionResultType]::ParameterName, 'Randomness of the answer')
            [CompletionResult]::new('--stop', '--stop', [CompletionResultType]::ParameterName, 'A text at which the answer ends (repeatable)')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'A further field of the provider''s request; VALUE is JSON, or else taken as a string (repeatable)')
            [CompletionResult]::new('--option', '--option', [CompletionResultType]::ParameterName, 'A further field of the provider''s request; VALUE is JSON, or else taken as a string (repeatable)')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'The id that the log keeps of this request')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'How long the whole request may take')
            [CompletionResult]::new('--wait', '--wait', [CompletionResultType]::ParameterName, 'How long to wait for the first step to return when all are held')
            [CompletionResult]::new('--pin', '--pin', [CompletionResultType]::ParameterName, 'Ask only this provider')
            [CompletionResult]::new('--exclude', '--exclude', [CompletionResultType]::ParameterName, 'Do not ask this provider (repeatable)')
            [CompletionResult]::new('--max-cost', '--max-cost', [CompletionResultType]::ParameterName, 'USD that the request may cost at most; a step that could exceed it is skipped')
            [CompletionResult]::new('--max-cost-per-1k', '--max-cost-per-1k', [CompletionResultType]::ParameterName, 'USD that 1,000 tokens of prompt and answer may cost at most; a step that costs more is skipped')
            [CompletionResult]::new('--max-latency', '--max-latency', [CompletionResultType]::ParameterName, 'How long an answer may usually take: a step of which one in 20 lately took longer is skipped')
            [CompletionResult]::new('--require', '--require', [CompletionResultType]::ParameterName, 'Ask only deployments that can do this: tools, json_schema, images (repeatable)')
            [CompletionResult]::new('--on-invalid', '--on-invalid', [CompletionResultType]::ParameterName, 'What becomes of an answer that is not as asked, once it was repaired in vain: ask the next step, hand it out as it is (exit code 7), or stop (7)')
            [CompletionResult]::new('--max-steps', '--max-steps', [CompletionResultType]::ParameterName, 'Ask at most so many different deployments')
            [CompletionResult]::new('--session', '--session', [CompletionResultType]::ParameterName, 'Go on with a conversation that the state keeps, or begin one; without a prompt, with what is under way')
            [CompletionResult]::new('--tool', '--tool', [CompletionResultType]::ParameterName, 'Let the model have this tool of the config run, besides those of its ladder (repeatable)')
            [CompletionResult]::new('--tool-choice', '--tool-choice', [CompletionResultType]::ParameterName, 'Whether the model begins with a tool: auto, none, required, or the name of one')
            [CompletionResult]::new('--max-tool-rounds', '--max-tool-rounds', [CompletionResultType]::ParameterName, 'How often in a row the model may have tools run before it must answer in words')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--stream', '--stream', [CompletionResultType]::ParameterName, 'Show the answer as it comes (default on a terminal)')
            [CompletionResult]::new('--no-stream', '--no-stream', [CompletionResultType]::ParameterName, 'Show the answer when it is whole')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object instead of the answer')
            [CompletionResult]::new('--prefer-cache', '--prefer-cache', [CompletionResultType]::ParameterName, 'Ask those first that lately served the beginning of this prompt and may have it in their cache')
            [CompletionResult]::new('--require-cache', '--require-cache', [CompletionResultType]::ParameterName, 'Ask nobody else, where there is one that lately served the beginning of this prompt')
            [CompletionResult]::new('--no-fallback', '--no-fallback', [CompletionResultType]::ParameterName, 'Ask only the first eligible step')
            [CompletionResult]::new('--no-repair', '--no-repair', [CompletionResultType]::ParameterName, 'Do not tell a deployment what was wrong with its answer, to have it mended')
            [CompletionResult]::new('--no-tools', '--no-tools', [CompletionResultType]::ParameterName, 'Let the model have no tools run')
            [CompletionResult]::new('--yes-tools', '--yes-tools', [CompletionResultType]::ParameterName, 'Run tools with side effects without asking')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;log' {
            [CompletionResult]::new('--class', '--class', [CompletionResultType]::ParameterName, 'Only requests with a failure of this class; of several, any')
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'Only requests that began then or later: a time like 2026-08-23T03:00:00Z, or how long ago like 6h')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'Only requests that began before then')
            [CompletionResult]::new('--provider', '--provider', [CompletionResultType]::ParameterName, 'Only requests that asked this provider; of several, any')
            [CompletionResult]::new('--deployment', '--deployment', [CompletionResultType]::ParameterName, 'Only requests that asked this: provider/model, provider/model@credential, @credential or provider@credential; of several, any')
            [CompletionResult]::new('--ladder', '--ladder', [CompletionResultType]::ParameterName, 'Only requests on this ladder')
            [CompletionResult]::new('--outcome', '--outcome', [CompletionResultType]::ParameterName, 'Only requests that ended so; of several, any')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'At most so many, the newest')
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'At most so many, the newest')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How to write what is found')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--failed', '--failed', [CompletionResultType]::ParameterName, 'Only requests that ended without the answer that was asked for')
            [CompletionResult]::new('-f', '-f', [CompletionResultType]::ParameterName, 'Go on showing requests as they end, until Ctrl-C')
            [CompletionResult]::new('--follow', '--follow', [CompletionResultType]::ParameterName, 'Go on showing requests as they end, until Ctrl-C')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'Short for `--format json`')
            [CompletionResult]::new('--redact', '--redact', [CompletionResultType]::ParameterName, 'One capture a line for each failed attempt, with stand-ins for what is personal')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;stats' {
            [CompletionResult]::new('--since', '--since', [CompletionResultType]::ParameterName, 'What began then or later: a time like 2026-08-23T03:00:00Z, or how long ago like 7d [default: 24h]')
            [CompletionResult]::new('--until', '--until', [CompletionResultType]::ParameterName, 'What began before then')
            [CompletionResult]::new('--ladder', '--ladder', [CompletionResultType]::ParameterName, 'Only what went down this ladder')
            [CompletionResult]::new('--class', '--class', [CompletionResultType]::ParameterName, 'Only attempts that failed with this class, and no requests; of several, any')
            [CompletionResult]::new('--by', '--by', [CompletionResultType]::ParameterName, 'A row for each ladder, deployment, class or bucket of time, the worst first')
            [CompletionResult]::new('--bucket', '--bucket', [CompletionResultType]::ParameterName, 'How long a bucket of time is, like 15m; in JSON and CSV every row is divided into them')
            [CompletionResult]::new('--format', '--format', [CompletionResultType]::ParameterName, 'How it is written; prometheus and openmetrics: counters over the life of the state file, and the state now')
            [CompletionResult]::new('-o', '-o', [CompletionResultType]::ParameterName, 'Write to this file, in one step, so that a collector never reads a part')
            [CompletionResult]::new('--output', '--output', [CompletionResultType]::ParameterName, 'Write to this file, in one step, so that a collector never reads a part')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'The same as --format json')
            [CompletionResult]::new('--ascii', '--ascii', [CompletionResultType]::ParameterName, 'Graphs in ASCII, as where the locale is not UTF-8')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;guard' {
            [CompletionResult]::new('--lease', '--lease', [CompletionResultType]::ParameterName, 'How long the call may take: then the next probe passes, and it counts no longer as under way; at most 24h')
            [CompletionResult]::new('--tokens', '--tokens', [CompletionResultType]::ParameterName, 'How many tokens the call will use, prompt and answer together; for limits that count tokens')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Take nothing, only look')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;record' {
            [CompletionResult]::new('--status', '--status', [CompletionResultType]::ParameterName, 'The HTTP status')
            [CompletionResult]::new('--headers', '--headers', [CompletionResultType]::ParameterName, 'The headers of the reply, one `Name: value` a line, as `curl -D FILE` writes them; @- reads standard input')
            [CompletionResult]::new('--body', '--body', [CompletionResultType]::ParameterName, 'The body of the reply, or what there is of it; @- reads standard input')
            [CompletionResult]::new('--transport', '--transport', [CompletionResultType]::ParameterName, 'What kept a whole reply from coming')
            [CompletionResult]::new('--input-tokens', '--input-tokens', [CompletionResultType]::ParameterName, 'Tokens of the prompt')
            [CompletionResult]::new('--output-tokens', '--output-tokens', [CompletionResultType]::ParameterName, 'Tokens of the answer')
            [CompletionResult]::new('--request-id', '--request-id', [CompletionResultType]::ParameterName, 'The id that `guard` gave, or one of your own; several calls under one id are one request in the log')
            [CompletionResult]::new('--started-at', '--started-at', [CompletionResultType]::ParameterName, 'When the call was sent: a time like 2026-08-23T03:00:00Z, or how long ago like 3s')
            [CompletionResult]::new('--latency', '--latency', [CompletionResultType]::ParameterName, 'How long the call took')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--ok', '--ok', [CompletionResultType]::ParameterName, 'It was answered')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;probe' {
            [CompletionResult]::new('--limit', '--limit', [CompletionResultType]::ParameterName, 'At most so many calls')
            [CompletionResult]::new('--deadline', '--deadline', [CompletionResultType]::ParameterName, 'How long each call may take; what takes longer has not recovered')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--now', '--now', [CompletionResultType]::ParameterName, 'Also what is not due yet, of the SELECTORs: whoever has mended the cause need not wait for the time. What fails rests on, for no shorter than it was known to')
            [CompletionResult]::new('--dry-run', '--dry-run', [CompletionResultType]::ParameterName, 'Show what is due and send nothing')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object a line')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;check' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object')
            [CompletionResult]::new('--alarm', '--alarm', [CompletionResultType]::ParameterName, 'Look at the state for the alarm as well: raise what is so, heal what is over, deliver what waits; for cron')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;alarm' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Send a test message to each sink now and say what came of it: exit 1 if one failed, 3 if there is none')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show what is raised, since when, who was told and what waits')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'llmr;alarm;test' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;alarm;list' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--all', '--all', [CompletionResultType]::ParameterName, 'Also what is over for more than a day')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;alarm;help' {
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Send a test message to each sink now and say what came of it: exit 1 if one failed, 3 if there is none')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show what is raised, since when, who was told and what waits')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'llmr;alarm;help;test' {
            break
        }
        'llmr;alarm;help;list' {
            break
        }
        'llmr;alarm;help;help' {
            break
        }
        'llmr;baseline' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Every name, with how many inputs are kept under it')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'What is kept under a name: the values, when they were said, and by whom')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Forget all that is kept under a name')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'llmr;baseline;list' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;baseline;show' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;baseline;rm' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;baseline;help' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Every name, with how many inputs are kept under it')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'What is kept under a name: the values, when they were said, and by whom')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Forget all that is kept under a name')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'llmr;baseline;help;list' {
            break
        }
        'llmr;baseline;help;show' {
            break
        }
        'llmr;baseline;help;rm' {
            break
        }
        'llmr;baseline;help;help' {
            break
        }
        'llmr;caps' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'JSON')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;init' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--print', '--print', [CompletionResultType]::ParameterName, 'Print it instead')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;demo' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;drill' {
            [CompletionResult]::new('-m', '-m', [CompletionResultType]::ParameterName, 'The ladder (default: the config''s default one)')
            [CompletionResult]::new('--model', '--model', [CompletionResultType]::ParameterName, 'The ladder (default: the config''s default one)')
            [CompletionResult]::new('--scenario', '--scenario', [CompletionResultType]::ParameterName, 'Play only this scenario (repeatable); --list shows them')
            [CompletionResult]::new('-n', '-n', [CompletionResultType]::ParameterName, 'Requests in each play')
            [CompletionResult]::new('--requests', '--requests', [CompletionResultType]::ParameterName, 'Requests in each play')
            [CompletionResult]::new('--over', '--over', [CompletionResultType]::ParameterName, 'The invented time over which they come')
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('--all-ladders', '--all-ladders', [CompletionResultType]::ParameterName, 'Every ladder of the config')
            [CompletionResult]::new('--list', '--list', [CompletionResultType]::ParameterName, 'List the scenarios')
            [CompletionResult]::new('--matrix', '--matrix', [CompletionResultType]::ParameterName, 'Count what nine kinds of failure cost in calls; needs no config')
            [CompletionResult]::new('--json', '--json', [CompletionResultType]::ParameterName, 'One JSON object per line: for each play, each file, or each row of the matrix')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;completions' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;man' {
            [CompletionResult]::new('--config', '--config', [CompletionResultType]::ParameterName, 'Config file [env: LLMR_CONFIG]')
            [CompletionResult]::new('--state', '--state', [CompletionResultType]::ParameterName, 'State file [env: LLMR_STATE]')
            [CompletionResult]::new('--color', '--color', [CompletionResultType]::ParameterName, 'When to use colour')
            [CompletionResult]::new('-v', '-v', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('--verbose', '--verbose', [CompletionResultType]::ParameterName, 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]')
            [CompletionResult]::new('-h', '-h', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('--help', '--help', [CompletionResultType]::ParameterName, 'Print help (see more with ''--help'')')
            [CompletionResult]::new('-V', '-V ', [CompletionResultType]::ParameterName, 'Print version')
            [CompletionResult]::new('--version', '--version', [CompletionResultType]::ParameterName, 'Print version')
            break
        }
        'llmr;help' {
            [CompletionResult]::new('chat', 'chat', [CompletionResultType]::ParameterValue, 'Send one prompt down the ladder; the answer alone goes to stdout')
            [CompletionResult]::new('session', 'session', [CompletionResultType]::ParameterValue, 'The conversations that `chat --session` keeps')
            [CompletionResult]::new('classify', 'classify', [CompletionResultType]::ParameterValue, 'Say what captured failures are')
            [CompletionResult]::new('status', 'status', [CompletionResultType]::ParameterValue, 'Show every deployment: eligible, or held by what, why, until when and who said so')
            [CompletionResult]::new('reset', 'reset', [CompletionResultType]::ParameterValue, 'Clear holds, at once for all processes')
            [CompletionResult]::new('hold', 'hold', [CompletionResultType]::ParameterValue, 'Bar deployments by hand, at once for all processes')
            [CompletionResult]::new('top', 'top', [CompletionResultType]::ParameterValue, 'Watch everything live: ladders, deployments, quotas, attempts and figures')
            [CompletionResult]::new('plan', 'plan', [CompletionResultType]::ParameterValue, 'Show who would be asked now, in which order, and why each other is skipped; sends nothing')
            [CompletionResult]::new('log', 'log', [CompletionResultType]::ParameterValue, 'Show requests and their attempts; with one id its whole trail')
            [CompletionResult]::new('stats', 'stats', [CompletionResultType]::ParameterValue, 'Show what the log comes to: success, step depth, retries, breakers, failure classes, times, tokens, cost')
            [CompletionResult]::new('guard', 'guard', [CompletionResultType]::ParameterValue, 'Say whether a program that makes its own calls may call now: exit 0, or 4 and until when')
            [CompletionResult]::new('record', 'record', [CompletionResultType]::ParameterValue, 'Say what came of a call that another program made')
            [CompletionResult]::new('probe', 'probe', [CompletionResultType]::ParameterValue, 'Send the probes that are due, so that no request has to; for cron')
            [CompletionResult]::new('check', 'check', [CompletionResultType]::ParameterValue, 'Validate the config and the catalogue offline, and count the failure domains of each ladder')
            [CompletionResult]::new('alarm', 'alarm', [CompletionResultType]::ParameterValue, 'What the alarm has told, and whether anybody hears it')
            [CompletionResult]::new('baseline', 'baseline', [CompletionResultType]::ParameterValue, 'Show or forget the verdicts that `llmr chat --baseline` compares with')
            [CompletionResult]::new('caps', 'caps', [CompletionResultType]::ParameterValue, 'Show the catalogue: limits, reset clocks, the next reset, and where each number comes from')
            [CompletionResult]::new('init', 'init', [CompletionResultType]::ParameterValue, 'Write a commented llmr.toml from the keys that the environment holds; never overwrites')
            [CompletionResult]::new('demo', 'demo', [CompletionResultType]::ParameterValue, 'Show what llmr does on a night when six providers fail: no key, no network, no config')
            [CompletionResult]::new('drill', 'drill', [CompletionResultType]::ParameterValue, 'What your ladder does when its providers fail: each of them replaced by a scripted one on loopback')
            [CompletionResult]::new('completions', 'completions', [CompletionResultType]::ParameterValue, 'Print the completions of a shell')
            [CompletionResult]::new('man', 'man', [CompletionResultType]::ParameterValue, 'Print the man page')
            [CompletionResult]::new('help', 'help', [CompletionResultType]::ParameterValue, 'Print this message or the help of the given subcommand(s)')
            break
        }
        'llmr;help;chat' {
            break
        }
        'llmr;help;session' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'All of them, the one that was used last first')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'One of them: what was said, and which tools were run')
            [CompletionResult]::new('new', 'new', [CompletionResultType]::ParameterValue, 'Begin one that has nothing in it yet')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Remove conversations with all that was said and run')
            [CompletionResult]::new('settle', 'settle', [CompletionResultType]::ParameterValue, 'Say what came of a tool''s call of which nobody knows whether it did its work')
            break
        }
        'llmr;help;session;list' {
            break
        }
        'llmr;help;session;show' {
            break
        }
        'llmr;help;session;new' {
            break
        }
        'llmr;help;session;rm' {
            break
        }
        'llmr;help;session;settle' {
            break
        }
        'llmr;help;classify' {
            break
        }
        'llmr;help;status' {
            break
        }
        'llmr;help;reset' {
            break
        }
        'llmr;help;hold' {
            break
        }
        'llmr;help;top' {
            break
        }
        'llmr;help;plan' {
            break
        }
        'llmr;help;log' {
            break
        }
        'llmr;help;stats' {
            break
        }
        'llmr;help;guard' {
            break
        }
        'llmr;help;record' {
            break
        }
        'llmr;help;probe' {
            break
        }
        'llmr;help;check' {
            break
        }
        'llmr;help;alarm' {
            [CompletionResult]::new('test', 'test', [CompletionResultType]::ParameterValue, 'Send a test message to each sink now and say what came of it: exit 1 if one failed, 3 if there is none')
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Show what is raised, since when, who was told and what waits')
            break
        }
        'llmr;help;alarm;test' {
            break
        }
        'llmr;help;alarm;list' {
            break
        }
        'llmr;help;baseline' {
            [CompletionResult]::new('list', 'list', [CompletionResultType]::ParameterValue, 'Every name, with how many inputs are kept under it')
            [CompletionResult]::new('show', 'show', [CompletionResultType]::ParameterValue, 'What is kept under a name: the values, when they were said, and by whom')
            [CompletionResult]::new('rm', 'rm', [CompletionResultType]::ParameterValue, 'Forget all that is kept under a name')
            break
        }
        'llmr;help;baseline;list' {
            break
        }
        'llmr;help;baseline;show' {
            break
        }
        'llmr;help;baseline;rm' {
            break
        }
        'llmr;help;caps' {
            break
        }
        'llmr;help;init' {
            break
        }
        'llmr;help;demo' {
            break
        }
        'llmr;help;drill' {
            break
        }
        'llmr;help;completions' {
            break
        }
        'llmr;help;man' {
            break
        }
        'llmr;help;help' {
            break
        }
    })

    $completions.Where{ $_.CompletionText -like "$wordToComplete*" } |
        Sort-Object -Property ListItemText
}
