
use builtin;
use str;

set edit:completion:arg-completer[llmr] = {|@words|
    fn spaces {|n|
        builtin:repeat $n ' ' | str:join ''
    }
    fn cand {|text desc|
        edit:complex-candidate $text &display=$text' '(spaces (- 14 (wcswidth $text)))$desc
    }
    var command = 'llmr'
    for word $words[1..-1] {
        if (str:has-prefix $word '-') {
            break
        }
        set command = $command';'$word
    }
    var completions = [
        &'llmr'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand chat 'Send one prompt down the ladder; the answer alone goes to stdout'
            cand classify 'Say what captured failures are'
            cand status 'Show every deployment: eligible, or held by what, why, until when and who said so'
            cand reset 'Clear holds, at once for all processes'
            cand plan 'Show who would be asked now, in which order, and why each other is skipped; sends nothing'
            cand log 'Show requests and their attempts; with one id its whole trail'
            cand check 'Validate the config and the catalogue offline, and count the failure domains of each ladder'
            cand caps 'Show the catalogue: limits, reset clocks, the next reset, and where each number comes from'
            cand init 'Write a commented llmr.toml from the keys that the environment holds; never overwrites'
            cand demo 'Show what llmr does on a night when six providers fail: no key, no network, no config'
            cand completions 'Print the completions of a shell'
            cand man 'Print the man page'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'llmr;chat'= {
            cand -m 'A ladder, or provider/model[@credential] to ask just that'
            cand --model 'A ladder, or provider/model[@credential] to ask just that'
            cand -s 'Standing instructions; @FILE reads them from a file'
            cand --system 'Standing instructions; @FILE reads them from a file'
            cand -f 'A file appended to the prompt as context (repeatable)'
            cand --file 'A file appended to the prompt as context (repeatable)'
            cand -a 'An image to show with the prompt: PNG, JPEG, GIF or WebP (repeatable)'
            cand --image 'An image to show with the prompt: PNG, JPEG, GIF or WebP (repeatable)'
            cand --schema 'A JSON Schema that the answer must satisfy'
            cand --check 'A semantic rule on the answer, in CEL (not in this version)'
            cand --messages 'A whole conversation as JSON: [{"role": "user", "content": "…"}, …]'
            cand --max-tokens 'The longest answer, in tokens'
            cand --temperature 'Randomness of the answer'
            cand --stop 'A text at which the answer ends (repeatable)'
            cand -o 'A further field of the provider''s request; VALUE is JSON, or else taken as a string (repeatable)'
            cand --option 'A further field of the provider''s request; VALUE is JSON, or else taken as a string (repeatable)'
            cand --request-id 'The id that the log keeps of this request'
            cand --deadline 'How long the whole request may take'
            cand --wait 'How long to wait for the first step to return when all are held'
            cand --pin 'Ask only this provider'
            cand --exclude 'Do not ask this provider (repeatable)'
            cand --max-cost 'USD that the request may cost at most; a step that could exceed it is skipped'
            cand --max-latency 'Pass over deployments that are usually slower (not in this version)'
            cand --require 'Ask only deployments that can do this: tools, json_schema, images (repeatable)'
            cand --max-steps 'Ask at most so many different deployments'
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --stream 'Show the answer as it comes (default on a terminal)'
            cand --no-stream 'Show the answer when it is whole'
            cand --json 'One JSON object instead of the answer'
            cand --no-fallback 'Ask only the first eligible step'
            cand --dry-run 'Show who would be asked and send nothing, like `llmr plan`'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;classify'= {
            cand --format 'What the input is'
            cand --fail-on 'Exit with 1 when a failure of one of these classes occurs'
            cand --provider 'The provider of records that name none'
            cand --tz 'The time zone of log lines that name none'
            cand --jobs 'How many blocks to work on at the same time; as many as there are cores when not given'
            cand --class-help 'Explain a class instead of reading anything'
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --json 'One JSON object per failure'
            cand --summary 'Only the counts per class and provider'
            cand --explain 'Show what was seen, every rule that matched, why the winner won, and what follows'
            cand --redact 'Write each failure as a capture that can be shared'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;status'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --json 'One JSON object'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;reset'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --all 'Clear everything'
            cand --cooldown 'Clear cooldowns; with none of the three, all are meant'
            cand --quarantine 'Clear quarantines'
            cand --circuit 'Close circuits and forget their failures'
            cand --dry-run 'Show what would be cleared and clear nothing'
            cand -y 'Do not ask'
            cand --yes 'Do not ask'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;plan'= {
            cand -m 'A ladder, or provider/model[@credential] to ask just that'
            cand --model 'A ladder, or provider/model[@credential] to ask just that'
            cand -s 'Standing instructions; @FILE reads them from a file'
            cand --system 'Standing instructions; @FILE reads them from a file'
            cand -f 'A file appended to the prompt as context (repeatable)'
            cand --file 'A file appended to the prompt as context (repeatable)'
            cand -a 'An image to show with the prompt: PNG, JPEG, GIF or WebP (repeatable)'
            cand --image 'An image to show with the prompt: PNG, JPEG, GIF or WebP (repeatable)'
            cand --schema 'A JSON Schema that the answer must satisfy'
            cand --check 'A semantic rule on the answer, in CEL (not in this version)'
            cand --messages 'A whole conversation as JSON: [{"role": "user", "content": "…"}, …]'
            cand --max-tokens 'The longest answer, in tokens'
            cand --temperature 'Randomness of the answer'
            cand --stop 'A text at which the answer ends (repeatable)'
            cand -o 'A further field of the provider''s request; VALUE is JSON, or else taken as a string (repeatable)'
            cand --option 'A further field of the provider''s request; VALUE is JSON, or else taken as a string (repeatable)'
            cand --request-id 'The id that the log keeps of this request'
            cand --deadline 'How long the whole request may take'
            cand --wait 'How long to wait for the first step to return when all are held'
            cand --pin 'Ask only this provider'
            cand --exclude 'Do not ask this provider (repeatable)'
            cand --max-cost 'USD that the request may cost at most; a step that could exceed it is skipped'
            cand --max-latency 'Pass over deployments that are usually slower (not in this version)'
            cand --require 'Ask only deployments that can do this: tools, json_schema, images (repeatable)'
            cand --max-steps 'Ask at most so many different deployments'
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --stream 'Show the answer as it comes (default on a terminal)'
            cand --no-stream 'Show the answer when it is whole'
            cand --json 'One JSON object instead of the answer'
            cand --no-fallback 'Ask only the first eligible step'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;log'= {
            cand --class 'Only requests with a failure of this class'
            cand --since 'Only requests since then: a time like 2026-08-23T03:00:00Z, or how long ago like 6h'
            cand -n 'At most so many, the newest'
            cand --limit 'At most so many, the newest'
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand -f 'Go on showing requests as they end, until Ctrl-C'
            cand --follow 'Go on showing requests as they end, until Ctrl-C'
            cand --json 'One JSON object a line'
            cand --redact 'One capture a line for each failed attempt, with stand-ins for what is personal'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;check'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --json 'One JSON object'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;caps'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --json 'JSON'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;init'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --print 'Print it instead'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;demo'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;completions'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;man'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;help'= {
            cand chat 'Send one prompt down the ladder; the answer alone goes to stdout'
            cand classify 'Say what captured failures are'
            cand status 'Show every deployment: eligible, or held by what, why, until when and who said so'
            cand reset 'Clear holds, at once for all processes'
            cand plan 'Show who would be asked now, in which order, and why each other is skipped; sends nothing'
            cand log 'Show requests and their attempts; with one id its whole trail'
            cand check 'Validate the config and the catalogue offline, and count the failure domains of each ladder'
            cand caps 'Show the catalogue: limits, reset clocks, the next reset, and where each number comes from'
            cand init 'Write a commented llmr.toml from the keys that the environment holds; never overwrites'
            cand demo 'Show what llmr does on a night when six providers fail: no key, no network, no config'
            cand completions 'Print the completions of a shell'
            cand man 'Print the man page'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'llmr;help;chat'= {
        }
        &'llmr;help;classify'= {
        }
        &'llmr;help;status'= {
        }
        &'llmr;help;reset'= {
        }
        &'llmr;help;plan'= {
        }
        &'llmr;help;log'= {
        }
        &'llmr;help;check'= {
        }
        &'llmr;help;caps'= {
        }
        &'llmr;help;init'= {
        }
        &'llmr;help;demo'= {
        }
        &'llmr;help;completions'= {
        }
        &'llmr;help;man'= {
        }
        &'llmr;help;help'= {
        }
    ]
    $completions[$command]
}
