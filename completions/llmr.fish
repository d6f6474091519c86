# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_llmr_global_optspecs
    string join \n config= state= v/verbose color= h/help V/version
end

function __fish_llmr_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_llmr_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_llmr_using_subcommand
    set -l cmd (__fish_llmr_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c llmr -n "__fish_llmr_needs_command" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_needs_command" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_needs_command" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_needs_command" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_needs_command" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_needs_command" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "chat" -d 'Send one prompt down the ladder; the answer alone goes to stdout'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "session" -d 'The conversations that `chat --session` keeps'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "classify" -d 'Say what captured failures are'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "status" -d 'Show every deployment: eligible, or held by what, why, until when and who said so'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "reset" -d 'Clear holds, at once for all processes'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "hold" -d 'Bar deployments by hand, at once for all processes'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "top" -d 'Watch everything live: ladders, deployments, quotas, attempts and figures'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "plan" -d 'Show who would be asked now, in which order, and why each other is skipped; sends nothing'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "log" -d 'Show requests and their attempts; with one id its whole trail'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "stats" -d 'Show what the log comes to: success, step depth, retries, breakers, failure classes, times, tokens, cost'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "guard" -d 'Say whether a program that makes its own calls may call now: exit 0, or 4 and until when'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "record" -d 'Say what came of a call that another program made'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "probe" -d 'Send the probes that are due, so that no request has to; for cron'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "check" -d 'Validate the config and the catalogue offline, and count the failure domains of each ladder'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "alarm" -d 'What the alarm has told, and whether anybody hears it'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "baseline" -d 'Show or forget the verdicts that `llmr chat --baseline` compares with'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "caps" -d 'Show the catalogue: limits, reset clocks, the next reset, and where each number comes from'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "init" -d 'Write a commented llmr.toml from the keys that the environment holds; never overwrites'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "demo" -d 'Show what llmr does on a night when six providers fail: no key, no network, no config'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "drill" -d 'What your ladder does when its providers fail: each of them replaced by a scripted one on loopback'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "completions" -d 'Print the completions of a shell'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "man" -d 'Print the man page'
complete -c llmr -n "__fish_llmr_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c llmr -n "__fish_llmr_using_subcommand chat" -s m -l model -d 'A ladder, or provider/model[@credential] to ask just that' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -s s -l system -d 'Standing instructions; @FILE reads them from a file' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -s f -l file -d 'A file appended to the prompt as context (repeatable)' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand chat" -s a -l image -d 'An image to show with the prompt: PNG, JPEG, GIF or WebP (repeatable)' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l schema -d 'A JSON Schema that the answer must satisfy' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l check -d 'What must be true of the answer, in CEL: of `answer` (its JSON), `text` and `input` (repeatable)' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l messages -d 'A whole conversation as JSON: [{"role": "user", "content": "…"}, …]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l max-tokens -d 'The longest answer, in tokens' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l temperature -d 'Randomness of the answer' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l stop -d 'A text at which the answer ends (repeatable)' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -s o -l option -d 'A further field of the provider\'s request; VALUE is JSON, or else taken as a string (repeatable)' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l request-id -d 'The id that the log keeps of this request' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l deadline -d 'How long the whole request may take' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l wait -d 'How long to wait for the first step to return when all are held' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l pin -d 'Ask only this provider' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l exclude -d 'Do not ask this provider (repeatable)' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l max-cost -d 'USD that the request may cost at most; a step that could exceed it is skipped' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l max-cost-per-1k -d 'USD that 1,000 tokens of prompt and answer may cost at most; a step that costs more is skipped' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l max-latency -d 'How long an answer may usually take: a step of which one in 20 lately took longer is skipped' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l require -d 'Ask only deployments that can do this: tools, json_schema, images (repeatable)' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l on-invalid -d 'What becomes of an answer that is not as asked, once it was repaired in vain: ask the next step, hand it out as it is (exit code 7), or stop (7)' -r -f -a "next\t''
return\t''
fail\t''"
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l max-steps -d 'Ask at most so many different deployments' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l session -d 'Go on with a conversation that the state keeps, or begin one; without a prompt, with what is under way' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l tool -d 'Let the model have this tool of the config run, besides those of its ladder (repeatable)' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l tool-choice -d 'Whether the model begins with a tool: auto, none, required, or the name of one' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l max-tool-rounds -d 'How often in a row the model may have tools run before it must answer in words' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l repeat -d 'Send the request so many times, each as a request of its own, and tell how far the answers agree; printed is the one that agrees with most' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l band -d 'What is allowed of a field of the answer, by its JSON pointer, instead of what the ladder says: of numbers the largest spread (/score=0.1), of all else the least agreement (/verdict=0.8); outside of it the exit code is 7 (repeatable)' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l baseline -d 'Compare the fields that have a band with those that were kept under this name for the same input; the first answer is kept' -r
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l stream -d 'Show the answer as it comes (default on a terminal)'
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l no-stream -d 'Show the answer when it is whole'
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l json -d 'One JSON object instead of the answer'
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l prefer-cache -d 'Ask those first that lately served the beginning of this prompt and may have it in their cache'
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l require-cache -d 'Ask nobody else, where there is one that lately served the beginning of this prompt'
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l no-fallback -d 'Ask only the first eligible step'
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l no-repair -d 'Do not tell a deployment what was wrong with its answer, to have it mended'
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l no-tools -d 'Let the model have no tools run'
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l yes-tools -d 'Run tools with side effects without asking'
complete -c llmr -n "__fish_llmr_using_subcommand chat" -l dry-run -d 'Show who would be asked and send nothing, like `llmr plan`'
complete -c llmr -n "__fish_llmr_using_subcommand chat" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand chat" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand chat" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand session; and not __fish_seen_subcommand_from list show new rm settle help" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand session; and not __fish_seen_subcommand_from list show new rm settle help" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand session; and not __fish_seen_subcommand_from list show new rm settle help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand session; and not __fish_seen_subcommand_from list show new rm settle help" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand session; and not __fish_seen_subcommand_from list show new rm settle help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand session; and not __fish_seen_subcommand_from list show new rm settle help" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand session; and not __fish_seen_subcommand_from list show new rm settle help" -f -a "list" -d 'All of them, the one that was used last first'
complete -c llmr -n "__fish_llmr_using_subcommand session; and not __fish_seen_subcommand_from list show new rm settle help" -f -a "show" -d 'One of them: what was said, and which tools were run'
complete -c llmr -n "__fish_llmr_using_subcommand session; and not __fish_seen_subcommand_from list show new rm settle help" -f -a "new" -d 'Begin one that has nothing in it yet'
complete -c llmr -n "__fish_llmr_using_subcommand session; and not __fish_seen_subcommand_from list show new rm settle help" -f -a "rm" -d 'Remove conversations with all that was said and run'
complete -c llmr -n "__fish_llmr_using_subcommand session; and not __fish_seen_subcommand_from list show new rm settle help" -f -a "settle" -d 'Say what came of a tool\'s call of which nobody knows whether it did its work'
complete -c llmr -n "__fish_llmr_using_subcommand session; and not __fish_seen_subcommand_from list show new rm settle help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from list" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from list" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from list" -l json -d 'One JSON object for each'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from show" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from show" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from show" -l json -d 'One JSON object, which `chat --messages` reads'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from new" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from new" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from new" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from new" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from new" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from new" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from rm" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from rm" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from rm" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from rm" -l force -d 'Also those with a call of which nobody knows whether it did its work'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from rm" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from rm" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from settle" -l result -d 'It did; this is what the model is told (@FILE reads it)' -r
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from settle" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from settle" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from settle" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from settle" -l again -d 'It did not; let it run once more'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from settle" -l decline -d 'It did not, and it is not to be run; the model is told so'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from settle" -l force -d 'It is not running any more, although the process that began it was killed'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from settle" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from settle" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from settle" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "list" -d 'All of them, the one that was used last first'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "show" -d 'One of them: what was said, and which tools were run'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "new" -d 'Begin one that has nothing in it yet'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "rm" -d 'Remove conversations with all that was said and run'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "settle" -d 'Say what came of a tool\'s call of which nobody knows whether it did its work'
complete -c llmr -n "__fish_llmr_using_subcommand session; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c llmr -n "__fish_llmr_using_subcommand classify" -l format -d 'What the input is' -r -f -a "jsonl\t''
text\t''
har\t''
auto\t''"
complete -c llmr -n "__fish_llmr_using_subcommand classify" -l fail-on -d 'Exit with 1 when a failure of one of these classes occurs' -r
complete -c llmr -n "__fish_llmr_using_subcommand classify" -l provider -d 'The provider of records that name none' -r
complete -c llmr -n "__fish_llmr_using_subcommand classify" -l tz -d 'The time zone of log lines that name none' -r
complete -c llmr -n "__fish_llmr_using_subcommand classify" -l jobs -d 'How many blocks to work on at the same time; as many as there are cores when not given' -r
complete -c llmr -n "__fish_llmr_using_subcommand classify" -l class-help -d 'Explain a class instead of reading anything' -r
complete -c llmr -n "__fish_llmr_using_subcommand classify" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand classify" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand classify" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand classify" -l json -d 'One JSON object per failure'
complete -c llmr -n "__fish_llmr_using_subcommand classify" -l summary -d 'Only the counts per class and provider'
complete -c llmr -n "__fish_llmr_using_subcommand classify" -l explain -d 'Show what was seen, every rule that matched, why the winner won, and what follows'
complete -c llmr -n "__fish_llmr_using_subcommand classify" -l redact -d 'Write each failure as a capture that can be shared'
complete -c llmr -n "__fish_llmr_using_subcommand classify" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand classify" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand classify" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand status" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand status" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand status" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand status" -l held -d 'Only what is held'
complete -c llmr -n "__fish_llmr_using_subcommand status" -l json -d 'One JSON object'
complete -c llmr -n "__fish_llmr_using_subcommand status" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand status" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand status" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand reset" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand reset" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand reset" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand reset" -l all -d 'Clear everything'
complete -c llmr -n "__fish_llmr_using_subcommand reset" -l cooldown -d 'Clear cooldowns; with none of these flags, all holds are meant'
complete -c llmr -n "__fish_llmr_using_subcommand reset" -l quarantine -d 'Clear quarantines'
complete -c llmr -n "__fish_llmr_using_subcommand reset" -l circuit -d 'Close circuits and forget their failures'
complete -c llmr -n "__fish_llmr_using_subcommand reset" -l usage -d 'Forget what is counted of limits and what was learned of them'
complete -c llmr -n "__fish_llmr_using_subcommand reset" -l dry-run -d 'Show what would be cleared and clear nothing'
complete -c llmr -n "__fish_llmr_using_subcommand reset" -s y -l yes -d 'Do not ask'
complete -c llmr -n "__fish_llmr_using_subcommand reset" -l json -d 'One JSON object: what was cleared, and what can be asked thanks to it'
complete -c llmr -n "__fish_llmr_using_subcommand reset" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand reset" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand reset" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand hold" -l for -d 'For how long, like 30m, 6h or 7d; without this or --until, until `llmr reset`' -r
complete -c llmr -n "__fish_llmr_using_subcommand hold" -l until -d 'Until when, like 2026-08-23T03:00:00Z' -r
complete -c llmr -n "__fish_llmr_using_subcommand hold" -l why -d 'The reason, which everybody is told whom the hold keeps back' -r
complete -c llmr -n "__fish_llmr_using_subcommand hold" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand hold" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand hold" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand hold" -l dry-run -d 'Show what would be held and hold nothing'
complete -c llmr -n "__fish_llmr_using_subcommand hold" -s y -l yes -d 'Do not ask'
complete -c llmr -n "__fish_llmr_using_subcommand hold" -l json -d 'One JSON object: what is held, whom that keeps back, and who is left on their ladders'
complete -c llmr -n "__fish_llmr_using_subcommand hold" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand hold" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand hold" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand top" -l ladder -d 'Only this ladder' -r
complete -c llmr -n "__fish_llmr_using_subcommand top" -l interval -d 'How often the state is read' -r
complete -c llmr -n "__fish_llmr_using_subcommand top" -l span -d 'How far back the figures go: 1h, 6h, 24h or 7d' -r
complete -c llmr -n "__fish_llmr_using_subcommand top" -l theme -d 'Colours for this ground; `t` changes them' -r -f -a "dark\t'Light letters on a dark ground'
light\t'Dark letters on a light ground'
mono\t'No colours'"
complete -c llmr -n "__fish_llmr_using_subcommand top" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand top" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand top" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand top" -l read-only -d 'Nothing can be changed from here'
complete -c llmr -n "__fish_llmr_using_subcommand top" -l once -d 'Print one snapshot'
complete -c llmr -n "__fish_llmr_using_subcommand top" -l json -d 'Print one snapshot as one JSON object'
complete -c llmr -n "__fish_llmr_using_subcommand top" -l no-mouse -d 'Leave the mouse to the terminal'
complete -c llmr -n "__fish_llmr_using_subcommand top" -l ascii -d 'Draw with ASCII alone, as where the locale is not UTF-8'
complete -c llmr -n "__fish_llmr_using_subcommand top" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand top" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand top" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand plan" -s m -l model -d 'A ladder, or provider/model[@credential] to ask just that' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -s s -l system -d 'Standing instructions; @FILE reads them from a file' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -s f -l file -d 'A file appended to the prompt as context (repeatable)' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand plan" -s a -l image -d 'An image to show with the prompt: PNG, JPEG, GIF or WebP (repeatable)' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l schema -d 'A JSON Schema that the answer must satisfy' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l check -d 'What must be true of the answer, in CEL: of `answer` (its JSON), `text` and `input` (repeatable)' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l messages -d 'A whole conversation as JSON: [{"role": "user", "content": "…"}, …]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l max-tokens -d 'The longest answer, in tokens' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l temperature -d 'Randomness of the answer' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l stop -d 'A text at which the answer ends (repeatable)' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -s o -l option -d 'A further field of the provider\'s request; VALUE is JSON, or else taken as a string (repeatable)' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l request-id -d 'The id that the log keeps of this request' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l deadline -d 'How long the whole request may take' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l wait -d 'How long to wait for the first step to return when all are held' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l pin -d 'Ask only this provider' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l exclude -d 'Do not ask this provider (repeatable)' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l max-cost -d 'USD that the request may cost at most; a step that could exceed it is skipped' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l max-cost-per-1k -d 'USD that 1,000 tokens of prompt and answer may cost at most; a step that costs more is skipped' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l max-latency -d 'How long an answer may usually take: a step of which one in 20 lately took longer is skipped' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l require -d 'Ask only deployments that can do this: tools, json_schema, images (repeatable)' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l on-invalid -d 'What becomes of an answer that is not as asked, once it was repaired in vain: ask the next step, hand it out as it is (exit code 7), or stop (7)' -r -f -a "next\t''
return\t''
fail\t''"
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l max-steps -d 'Ask at most so many different deployments' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l session -d 'Go on with a conversation that the state keeps, or begin one; without a prompt, with what is under way' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l tool -d 'Let the model have this tool of the config run, besides those of its ladder (repeatable)' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l tool-choice -d 'Whether the model begins with a tool: auto, none, required, or the name of one' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l max-tool-rounds -d 'How often in a row the model may have tools run before it must answer in words' -r
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l stream -d 'Show the answer as it comes (default on a terminal)'
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l no-stream -d 'Show the answer when it is whole'
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l json -d 'One JSON object instead of the answer'
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l prefer-cache -d 'Ask those first that lately served the beginning of this prompt and may have it in their cache'
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l require-cache -d 'Ask nobody else, where there is one that lately served the beginning of this prompt'
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l no-fallback -d 'Ask only the first eligible step'
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l no-repair -d 'Do not tell a deployment what was wrong with its answer, to have it mended'
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l no-tools -d 'Let the model have no tools run'
complete -c llmr -n "__fish_llmr_using_subcommand plan" -l yes-tools -d 'Run tools with side effects without asking'
complete -c llmr -n "__fish_llmr_using_subcommand plan" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand plan" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand plan" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand log" -l class -d 'Only requests with a failure of this class; of several, any' -r
complete -c llmr -n "__fish_llmr_using_subcommand log" -l since -d 'Only requests that began then or later: a time like 2026-08-23T03:00:00Z, or how long ago like 6h' -r
complete -c llmr -n "__fish_llmr_using_subcommand log" -l until -d 'Only requests that began before then' -r
complete -c llmr -n "__fish_llmr_using_subcommand log" -l provider -d 'Only requests that asked this provider; of several, any' -r
complete -c llmr -n "__fish_llmr_using_subcommand log" -l deployment -d 'Only requests that asked this: provider/model, provider/model@credential, @credential or provider@credential; of several, any' -r
complete -c llmr -n "__fish_llmr_using_subcommand log" -l ladder -d 'Only requests on this ladder' -r
complete -c llmr -n "__fish_llmr_using_subcommand log" -l outcome -d 'Only requests that ended so; of several, any' -r
complete -c llmr -n "__fish_llmr_using_subcommand log" -s n -l limit -d 'At most so many, the newest' -r
complete -c llmr -n "__fish_llmr_using_subcommand log" -l format -d 'How to write what is found' -r -f -a "text\t'For people'
json\t'One JSON object a line'
otlp-json\t'One OpenTelemetry trace a line, in OTLP/JSON: a span for the request and one for each attempt, without any content'"
complete -c llmr -n "__fish_llmr_using_subcommand log" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand log" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand log" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand log" -l failed -d 'Only requests that ended without the answer that was asked for'
complete -c llmr -n "__fish_llmr_using_subcommand log" -s f -l follow -d 'Go on showing requests as they end, until Ctrl-C'
complete -c llmr -n "__fish_llmr_using_subcommand log" -l json -d 'Short for `--format json`'
complete -c llmr -n "__fish_llmr_using_subcommand log" -l redact -d 'One capture a line for each failed attempt, with stand-ins for what is personal'
complete -c llmr -n "__fish_llmr_using_subcommand log" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand log" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand log" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand stats" -l since -d 'What began then or later: a time like 2026-08-23T03:00:00Z, or how long ago like 7d [default: 24h]' -r
complete -c llmr -n "__fish_llmr_using_subcommand stats" -l until -d 'What began before then' -r
complete -c llmr -n "__fish_llmr_using_subcommand stats" -l ladder -d 'Only what went down this ladder' -r
complete -c llmr -n "__fish_llmr_using_subcommand stats" -l class -d 'Only attempts that failed with this class, and no requests; of several, any' -r
complete -c llmr -n "__fish_llmr_using_subcommand stats" -l by -d 'A row for each ladder, deployment, class or bucket of time, the worst first' -r -f -a "ladder\t''
deployment\t''
class\t''
time\t''"
complete -c llmr -n "__fish_llmr_using_subcommand stats" -l bucket -d 'How long a bucket of time is, like 15m; in JSON and CSV every row is divided into them' -r
complete -c llmr -n "__fish_llmr_using_subcommand stats" -l format -d 'How it is written; prometheus and openmetrics: counters over the life of the state file, and the state now' -r -f -a "table\t''
json\t''
csv\t''
prometheus\t''
openmetrics\t''"
complete -c llmr -n "__fish_llmr_using_subcommand stats" -s o -l output -d 'Write to this file, in one step, so that a collector never reads a part' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand stats" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand stats" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand stats" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand stats" -l json -d 'The same as --format json'
complete -c llmr -n "__fish_llmr_using_subcommand stats" -l ascii -d 'Graphs in ASCII, as where the locale is not UTF-8'
complete -c llmr -n "__fish_llmr_using_subcommand stats" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand stats" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand stats" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand guard" -l lease -d 'How long the call may take: then the next probe passes, and it counts no longer as under way; at most 24h' -r
complete -c llmr -n "__fish_llmr_using_subcommand guard" -l tokens -d 'How many tokens the call will use, prompt and answer together; for limits that count tokens' -r
complete -c llmr -n "__fish_llmr_using_subcommand guard" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand guard" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand guard" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand guard" -l dry-run -d 'Take nothing, only look'
complete -c llmr -n "__fish_llmr_using_subcommand guard" -l json -d 'One JSON object'
complete -c llmr -n "__fish_llmr_using_subcommand guard" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand guard" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand guard" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand record" -l status -d 'The HTTP status' -r
complete -c llmr -n "__fish_llmr_using_subcommand record" -l headers -d 'The headers of the reply, one `Name: value` a line, as `curl -D FILE` writes them; @- reads standard input' -r
complete -c llmr -n "__fish_llmr_using_subcommand record" -l body -d 'The body of the reply, or what there is of it; @- reads standard input' -r
complete -c llmr -n "__fish_llmr_using_subcommand record" -l transport -d 'What kept a whole reply from coming' -r -f -a "timeout\t'No answer in time'
refused\t'Nobody listens'
reset\t'The connection was closed or reset'
dns\t'The name does not resolve'
tls\t'The certificate or the handshake'"
complete -c llmr -n "__fish_llmr_using_subcommand record" -l input-tokens -d 'Tokens of the prompt' -r
complete -c llmr -n "__fish_llmr_using_subcommand record" -l output-tokens -d 'Tokens of the answer' -r
complete -c llmr -n "__fish_llmr_using_subcommand record" -l request-id -d 'The id that `guard` gave, or one of your own; several calls under one id are one request in the log' -r
complete -c llmr -n "__fish_llmr_using_subcommand record" -l started-at -d 'When the call was sent: a time like 2026-08-23T03:00:00Z, or how long ago like 3s' -r
complete -c llmr -n "__fish_llmr_using_subcommand record" -l latency -d 'How long the call took' -r
complete -c llmr -n "__fish_llmr_using_subcommand record" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand record" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand record" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand record" -l ok -d 'It was answered'
complete -c llmr -n "__fish_llmr_using_subcommand record" -l json -d 'One JSON object'
complete -c llmr -n "__fish_llmr_using_subcommand record" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand record" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand record" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand probe" -l limit -d 'At most so many calls' -r
complete -c llmr -n "__fish_llmr_using_subcommand probe" -l deadline -d 'How long each call may take; what takes longer has not recovered' -r
complete -c llmr -n "__fish_llmr_using_subcommand probe" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand probe" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand probe" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand probe" -l now -d 'Also what is not due yet, of the SELECTORs: whoever has mended the cause need not wait for the time. What fails rests on, for no shorter than it was known to'
complete -c llmr -n "__fish_llmr_using_subcommand probe" -l dry-run -d 'Show what is due and send nothing'
complete -c llmr -n "__fish_llmr_using_subcommand probe" -l json -d 'One JSON object a line'
complete -c llmr -n "__fish_llmr_using_subcommand probe" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand probe" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand probe" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand check" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand check" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand check" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand check" -l json -d 'One JSON object'
complete -c llmr -n "__fish_llmr_using_subcommand check" -l alarm -d 'Look at the state for the alarm as well: raise what is so, heal what is over, deliver what waits; for cron'
complete -c llmr -n "__fish_llmr_using_subcommand check" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand check" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand check" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and not __fish_seen_subcommand_from test list help" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and not __fish_seen_subcommand_from test list help" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and not __fish_seen_subcommand_from test list help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and not __fish_seen_subcommand_from test list help" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and not __fish_seen_subcommand_from test list help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and not __fish_seen_subcommand_from test list help" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and not __fish_seen_subcommand_from test list help" -f -a "test" -d 'Send a test message to each sink now and say what came of it: exit 1 if one failed, 3 if there is none'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and not __fish_seen_subcommand_from test list help" -f -a "list" -d 'Show what is raised, since when, who was told and what waits'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and not __fish_seen_subcommand_from test list help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from test" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from test" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from test" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from test" -l json -d 'One JSON object'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from test" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from test" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from test" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from list" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from list" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from list" -l all -d 'Also what is over for more than a day'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from list" -l json -d 'One JSON object'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from help" -f -a "test" -d 'Send a test message to each sink now and say what came of it: exit 1 if one failed, 3 if there is none'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from help" -f -a "list" -d 'Show what is raised, since when, who was told and what waits'
complete -c llmr -n "__fish_llmr_using_subcommand alarm; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and not __fish_seen_subcommand_from list show rm help" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and not __fish_seen_subcommand_from list show rm help" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and not __fish_seen_subcommand_from list show rm help" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and not __fish_seen_subcommand_from list show rm help" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and not __fish_seen_subcommand_from list show rm help" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and not __fish_seen_subcommand_from list show rm help" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and not __fish_seen_subcommand_from list show rm help" -f -a "list" -d 'Every name, with how many inputs are kept under it'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and not __fish_seen_subcommand_from list show rm help" -f -a "show" -d 'What is kept under a name: the values, when they were said, and by whom'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and not __fish_seen_subcommand_from list show rm help" -f -a "rm" -d 'Forget all that is kept under a name'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and not __fish_seen_subcommand_from list show rm help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from list" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from list" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from list" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from list" -l json -d 'One JSON object'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from list" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from list" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from list" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from show" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from show" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from show" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from show" -l json -d 'One JSON object'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from show" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from show" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from show" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from rm" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from rm" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from rm" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from rm" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from rm" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from rm" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from help" -f -a "list" -d 'Every name, with how many inputs are kept under it'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from help" -f -a "show" -d 'What is kept under a name: the values, when they were said, and by whom'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from help" -f -a "rm" -d 'Forget all that is kept under a name'
complete -c llmr -n "__fish_llmr_using_subcommand baseline; and __fish_seen_subcommand_from help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c llmr -n "__fish_llmr_using_subcommand caps" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand caps" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand caps" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand caps" -l json -d 'JSON'
complete -c llmr -n "__fish_llmr_using_subcommand caps" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand caps" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand caps" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand init" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand init" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand init" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand init" -l print -d 'Print it instead'
complete -c llmr -n "__fish_llmr_using_subcommand init" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand init" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand init" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand demo" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand demo" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand demo" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand demo" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand demo" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand demo" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand drill" -s m -l model -d 'The ladder (default: the config\'s default one)' -r
complete -c llmr -n "__fish_llmr_using_subcommand drill" -l scenario -d 'Play only this scenario (repeatable); --list shows them' -r
complete -c llmr -n "__fish_llmr_using_subcommand drill" -s n -l requests -d 'Requests in each play' -r
complete -c llmr -n "__fish_llmr_using_subcommand drill" -l over -d 'The invented time over which they come' -r
complete -c llmr -n "__fish_llmr_using_subcommand drill" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand drill" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand drill" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand drill" -l all-ladders -d 'Every ladder of the config'
complete -c llmr -n "__fish_llmr_using_subcommand drill" -l list -d 'List the scenarios'
complete -c llmr -n "__fish_llmr_using_subcommand drill" -l matrix -d 'Count what nine kinds of failure cost in calls; needs no config'
complete -c llmr -n "__fish_llmr_using_subcommand drill" -l json -d 'One JSON object per line: for each play, each file, or each row of the matrix'
complete -c llmr -n "__fish_llmr_using_subcommand drill" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand drill" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand drill" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand completions" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand completions" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand completions" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand completions" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand completions" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand completions" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand man" -l config -d 'Config file [env: LLMR_CONFIG]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand man" -l state -d 'State file [env: LLMR_STATE]' -r -F
complete -c llmr -n "__fish_llmr_using_subcommand man" -l color -d 'When to use colour' -r -f -a "auto\t'On a terminal'
always\t'Always'
never\t'Never'"
complete -c llmr -n "__fish_llmr_using_subcommand man" -s v -l verbose -d 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
complete -c llmr -n "__fish_llmr_using_subcommand man" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c llmr -n "__fish_llmr_using_subcommand man" -s V -l version -d 'Print version'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "chat" -d 'Send one prompt down the ladder; the answer alone goes to stdout'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "session" -d 'The conversations that `chat --session` keeps'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "classify" -d 'Say what captured failures are'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "status" -d 'Show every deployment: eligible, or held by what, why, until when and who said so'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "reset" -d 'Clear holds, at once for all processes'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "hold" -d 'Bar deployments by hand, at once for all processes'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "top" -d 'Watch everything live: ladders, deployments, quotas, attempts and figures'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "plan" -d 'Show who would be asked now, in which order, and why each other is skipped; sends nothing'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "log" -d 'Show requests and their attempts; with one id its whole trail'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "stats" -d 'Show what the log comes to: success, step depth, retries, breakers, failure classes, times, tokens, cost'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "guard" -d 'Say whether a program that makes its own calls may call now: exit 0, or 4 and until when'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "record" -d 'Say what came of a call that another program made'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "probe" -d 'Send the probes that are due, so that no request has to; for cron'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "check" -d 'Validate the config and the catalogue offline, and count the failure domains of each ladder'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "alarm" -d 'What the alarm has told, and whether anybody hears it'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "baseline" -d 'Show or forget the verdicts that `llmr chat --baseline` compares with'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "caps" -d 'Show the catalogue: limits, reset clocks, the next reset, and where each number comes from'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "init" -d 'Write a commented llmr.toml from the keys that the environment holds; never overwrites'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "demo" -d 'Show what llmr does on a night when six providers fail: no key, no network, no config'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "drill" -d 'What your ladder does when its providers fail: each of them replaced by a scripted one on loopback'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "completions" -d 'Print the completions of a shell'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "man" -d 'Print the man page'
complete -c llmr -n "__fish_llmr_using_subcommand help; and not __fish_seen_subcommand_from chat session classify status reset hold top plan log stats guard record probe check alarm baseline caps init demo drill completions man help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c llmr -n "__fish_llmr_using_subcommand help; and __fish_seen_subcommand_from session" -f -a "list" -d 'All of them, the one that was used last first'
complete -c llmr -n "__fish_llmr_using_subcommand help; and __fish_seen_subcommand_from session" -f -a "show" -d 'One of them: what was said, and which tools were run'
complete -c llmr -n "__fish_llmr_using_subcommand help; and __fish_seen_subcommand_from session" -f -a "new" -d 'Begin one that has nothing in it yet'
complete -c llmr -n "__fish_llmr_using_subcommand help; and __fish_seen_subcommand_from session" -f -a "rm" -d 'Remove conversations with all that was said and run'
complete -c llmr -n "__fish_llmr_using_subcommand help; and __fish_seen_subcommand_from session" -f -a "settle" -d 'Say what came of a tool\'s call of which nobody knows whether it did its work'
complete -c llmr -n "__fish_llmr_using_subcommand help; and __fish_seen_subcommand_from alarm" -f -a "test" -d 'Send a test message to each sink now and say what came of it: exit 1 if one failed, 3 if there is none'
complete -c llmr -n "__fish_llmr_using_subcommand help; and __fish_seen_subcommand_from alarm" -f -a "list" -d 'Show what is raised, since when, who was told and what waits'
complete -c llmr -n "__fish_llmr_using_subcommand help; and __fish_seen_subcommand_from baseline" -f -a "list" -d 'Every name, with how many inputs are kept under it'
complete -c llmr -n "__fish_llmr_using_subcommand help; and __fish_seen_subcommand_from baseline" -f -a "show" -d 'What is kept under a name: the values, when they were said, and by whom'
complete -c llmr -n "__fish_llmr_using_subcommand help; and __fish_seen_subcommand_from baseline" -f -a "rm" -d 'Forget all that is kept under a name'
