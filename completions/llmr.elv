
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
            cand session 'The conversations that `chat --session` keeps'
            cand classify 'Say what captured failures are'
            cand status 'Show every deployment: eligible, or held by what, why, until when and who said so'
            cand reset 'Clear holds, at once for all processes'
            cand hold 'Bar deployments by hand, at once for all processes'
            cand top 'Watch everything live: ladders, deployments, quotas, attempts and figures'
            cand plan 'Show who would be asked now, in which order, and why each other is skipped; sends nothing'
            cand log 'Show requests and their attempts; with one id its whole trail'
            cand stats 'Show what the log comes to: success, step depth, retries, breakers, failure classes, times, tokens, cost'
            cand guard 'Say whether a program that makes its own calls may call now: exit 0, or 4 and until when'
            cand record 'Say what came of a call that another program made'
            cand probe 'Send the probes that are due, so that no request has to; for cron'
            cand check 'Validate the config and the catalogue offline, and count the failure domains of each ladder'
            cand alarm 'What the alarm has told, and whether anybody hears it'
            cand baseline 'Show or forget the verdicts that `llmr chat --baseline` compares with'
            cand caps 'Show the catalogue: limits, reset clocks, the next reset, and where each number comes from'
            cand init 'Write a commented llmr.toml from the keys that the environment holds; never overwrites'
            cand demo 'Show what llmr does on a night when six providers fail: no key, no network, no config'
            cand drill 'What your ladder does when its providers fail: each of them replaced by a scripted one on loopback'
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
            cand --check 'What must be true of the answer, in CEL: of `answer` (its JSON), `text` and `input` (repeatable)'
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
            cand --max-cost-per-1k 'USD that 1,000 tokens of prompt and answer may cost at most; a step that costs more is skipped'
            cand --max-latency 'How long an answer may usually take: a step of which one in 20 lately took longer is skipped'
            cand --require 'Ask only deployments that can do this: tools, json_schema, images (repeatable)'
            cand --on-invalid 'What becomes of an answer that is not as asked, once it was repaired in vain: ask the next step, hand it out as it is (exit code 7), or stop (7)'
            cand --max-steps 'Ask at most so many different deployments'
            cand --session 'Go on with a conversation that the state keeps, or begin one; without a prompt, with what is under way'
            cand --tool 'Let the model have this tool of the config run, besides those of its ladder (repeatable)'
            cand --tool-choice 'Whether the model begins with a tool: auto, none, required, or the name of one'
            cand --max-tool-rounds 'How often in a row the model may have tools run before it must answer in words'
            cand --repeat 'Send the request so many times, each as a request of its own, and tell how far the answers agree; printed is the one that agrees with most'
            cand --band 'What is allowed of a field of the answer, by its JSON pointer, instead of what the ladder says: of numbers the largest spread (/score=0.1), of all else the least agreement (/verdict=0.8); outside of it the exit code is 7 (repeatable)'
            cand --baseline 'Compare the fields that have a band with those that were kept under this name for the same input; the first answer is kept'
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --stream 'Show the answer as it comes (default on a terminal)'
            cand --no-stream 'Show the answer when it is whole'
            cand --json 'One JSON object instead of the answer'
            cand --prefer-cache 'Ask those first that lately served the beginning of this prompt and may have it in their cache'
            cand --require-cache 'Ask nobody else, where there is one that lately served the beginning of this prompt'
            cand --no-fallback 'Ask only the first eligible step'
            cand --no-repair 'Do not tell a deployment what was wrong with its answer, to have it mended'
            cand --no-tools 'Let the model have no tools run'
            cand --yes-tools 'Run tools with side effects without asking'
            cand --dry-run 'Show who would be asked and send nothing, like `llmr plan`'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;session'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand list 'All of them, the one that was used last first'
            cand show 'One of them: what was said, and which tools were run'
            cand new 'Begin one that has nothing in it yet'
            cand rm 'Remove conversations with all that was said and run'
            cand settle 'Say what came of a tool''s call of which nobody knows whether it did its work'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'llmr;session;list'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --json 'One JSON object for each'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;session;show'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --json 'One JSON object, which `chat --messages` reads'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;session;new'= {
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
        &'llmr;session;rm'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --force 'Also those with a call of which nobody knows whether it did its work'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;session;settle'= {
            cand --result 'It did; this is what the model is told (@FILE reads it)'
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --again 'It did not; let it run once more'
            cand --decline 'It did not, and it is not to be run; the model is told so'
            cand --force 'It is not running any more, although the process that began it was killed'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;session;help'= {
            cand list 'All of them, the one that was used last first'
            cand show 'One of them: what was said, and which tools were run'
            cand new 'Begin one that has nothing in it yet'
            cand rm 'Remove conversations with all that was said and run'
            cand settle 'Say what came of a tool''s call of which nobody knows whether it did its work'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'llmr;session;help;list'= {
        }
        &'llmr;session;help;show'= {
        }
        &'llmr;session;help;new'= {
        }
        &'llmr;session;help;rm'= {
        }
        &'llmr;session;help;settle'= {
        }
        &'llmr;session;help;help'= {
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
            cand --held 'Only what is held'
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
            cand --cooldown 'Clear cooldowns; with none of these flags, all holds are meant'
            cand --quarantine 'Clear quarantines'
            cand --circuit 'Close circuits and forget their failures'
            cand --usage 'Forget what is counted of limits and what was learned of them'
            cand --dry-run 'Show what would be cleared and clear nothing'
            cand -y 'Do not ask'
            cand --yes 'Do not ask'
            cand --json 'One JSON object: what was cleared, and what can be asked thanks to it'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;hold'= {
            cand --for 'For how long, like 30m, 6h or 7d; without this or --until, until `llmr reset`'
            cand --until 'Until when, like 2026-08-23T03:00:00Z'
            cand --why 'The reason, which everybody is told whom the hold keeps back'
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --dry-run 'Show what would be held and hold nothing'
            cand -y 'Do not ask'
            cand --yes 'Do not ask'
            cand --json 'One JSON object: what is held, whom that keeps back, and who is left on their ladders'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;top'= {
            cand --ladder 'Only this ladder'
            cand --interval 'How often the state is read'
            cand --span 'How far back the figures go: 1h, 6h, 24h or 7d'
            cand --theme 'Colours for this ground; `t` changes them'
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --read-only 'Nothing can be changed from here'
            cand --once 'Print one snapshot'
            cand --json 'Print one snapshot as one JSON object'
            cand --no-mouse 'Leave the mouse to the terminal'
            cand --ascii 'Draw with ASCII alone, as where the locale is not UTF-8'
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
            cand --check 'What must be true of the answer, in CEL: of `answer` (its JSON), `text` and `input` (repeatable)'
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
            cand --max-cost-per-1k 'USD that 1,000 tokens of prompt and answer may cost at most; a step that costs more is skipped'
            cand --max-latency 'How long an answer may usually take: a step of which one in 20 lately took longer is skipped'
            cand --require 'Ask only deployments that can do this: tools, json_schema, images (repeatable)'
            cand --on-invalid 'What becomes of an answer that is not as asked, once it was repaired in vain: ask the next step, hand it out as it is (exit code 7), or stop (7)'
            cand --max-steps 'Ask at most so many different deployments'
            cand --session 'Go on with a conversation that the state keeps, or begin one; without a prompt, with what is under way'
            cand --tool 'Let the model have this tool of the config run, besides those of its ladder (repeatable)'
            cand --tool-choice 'Whether the model begins with a tool: auto, none, required, or the name of one'
            cand --max-tool-rounds 'How often in a row the model may have tools run before it must answer in words'
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --stream 'Show the answer as it comes (default on a terminal)'
            cand --no-stream 'Show the answer when it is whole'
            cand --json 'One JSON object instead of the answer'
            cand --prefer-cache 'Ask those first that lately served the beginning of this prompt and may have it in their cache'
            cand --require-cache 'Ask nobody else, where there is one that lately served the beginning of this prompt'
            cand --no-fallback 'Ask only the first eligible step'
            cand --no-repair 'Do not tell a deployment what was wrong with its answer, to have it mended'
            cand --no-tools 'Let the model have no tools run'
            cand --yes-tools 'Run tools with side effects without asking'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;log'= {
            cand --class 'Only requests with a failure of this class; of several, any'
            cand --since 'Only requests that began then or later: a time like 2026-08-23T03:00:00Z, or how long ago like 6h'
            cand --until 'Only requests that began before then'
            cand --provider 'Only requests that asked this provider; of several, any'
            cand --deployment 'Only requests that asked this: provider/model, provider/model@credential, @credential or provider@credential; of several, any'
            cand --ladder 'Only requests on this ladder'
            cand --outcome 'Only requests that ended so; of several, any'
            cand -n 'At most so many, the newest'
            cand --limit 'At most so many, the newest'
            cand --format 'How to write what is found'
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --failed 'Only requests that ended without the answer that was asked for'
            cand -f 'Go on showing requests as they end, until Ctrl-C'
            cand --follow 'Go on showing requests as they end, until Ctrl-C'
            cand --json 'Short for `--format json`'
            cand --redact 'One capture a line for each failed attempt, with stand-ins for what is personal'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;stats'= {
            cand --since 'What began then or later: a time like 2026-08-23T03:00:00Z, or how long ago like 7d [default: 24h]'
            cand --until 'What began before then'
            cand --ladder 'Only what went down this ladder'
            cand --class 'Only attempts that failed with this class, and no requests; of several, any'
            cand --by 'A row for each ladder, deployment, class or bucket of time, the worst first'
            cand --bucket 'How long a bucket of time is, like 15m; in JSON and CSV every row is divided into them'
            cand --format 'How it is written; prometheus and openmetrics: counters over the life of the state file, and the state now'
            cand -o 'Write to this file, in one step, so that a collector never reads a part'
            cand --output 'Write to this file, in one step, so that a collector never reads a part'
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --json 'The same as --format json'
            cand --ascii 'Graphs in ASCII, as where the locale is not UTF-8'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;guard'= {
            cand --lease 'How long the call may take: then the next probe passes, and it counts no longer as under way; at most 24h'
            cand --tokens 'How many tokens the call will use, prompt and answer together; for limits that count tokens'
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --dry-run 'Take nothing, only look'
            cand --json 'One JSON object'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;record'= {
            cand --status 'The HTTP status'
            cand --headers 'The headers of the reply, one `Name: value` a line, as `curl -D FILE` writes them; @- reads standard input'
            cand --body 'The body of the reply, or what there is of it; @- reads standard input'
            cand --transport 'What kept a whole reply from coming'
            cand --input-tokens 'Tokens of the prompt'
            cand --output-tokens 'Tokens of the answer'
            cand --request-id 'The id that `guard` gave, or one of your own; several calls under one id are one request in the log'
            cand --started-at 'When the call was sent: a time like 2026-08-23T03:00:00Z, or how long ago like 3s'
            cand --latency 'How long the call took'
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --ok 'It was answered'
            cand --json 'One JSON object'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;probe'= {
            cand --limit 'At most so many calls'
            cand --deadline 'How long each call may take; what takes longer has not recovered'
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --now 'Also what is not due yet, of the SELECTORs: whoever has mended the cause need not wait for the time. What fails rests on, for no shorter than it was known to'
            cand --dry-run 'Show what is due and send nothing'
            cand --json 'One JSON object a line'
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
            cand --alarm 'Look at the state for the alarm as well: raise what is so, heal what is over, deliver what waits; for cron'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;alarm'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand test 'Send a test message to each sink now and say what came of it: exit 1 if one failed, 3 if there is none'
            cand list 'Show what is raised, since when, who was told and what waits'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'llmr;alarm;test'= {
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
        &'llmr;alarm;list'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --all 'Also what is over for more than a day'
            cand --json 'One JSON object'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
        }
        &'llmr;alarm;help'= {
            cand test 'Send a test message to each sink now and say what came of it: exit 1 if one failed, 3 if there is none'
            cand list 'Show what is raised, since when, who was told and what waits'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'llmr;alarm;help;test'= {
        }
        &'llmr;alarm;help;list'= {
        }
        &'llmr;alarm;help;help'= {
        }
        &'llmr;baseline'= {
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand -v 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand --verbose 'Show what happens inside, on stderr; more with -vv [env: LLMR_LOG=LEVEL]'
            cand -h 'Print help (see more with ''--help'')'
            cand --help 'Print help (see more with ''--help'')'
            cand -V 'Print version'
            cand --version 'Print version'
            cand list 'Every name, with how many inputs are kept under it'
            cand show 'What is kept under a name: the values, when they were said, and by whom'
            cand rm 'Forget all that is kept under a name'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'llmr;baseline;list'= {
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
        &'llmr;baseline;show'= {
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
        &'llmr;baseline;rm'= {
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
        &'llmr;baseline;help'= {
            cand list 'Every name, with how many inputs are kept under it'
            cand show 'What is kept under a name: the values, when they were said, and by whom'
            cand rm 'Forget all that is kept under a name'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'llmr;baseline;help;list'= {
        }
        &'llmr;baseline;help;show'= {
        }
        &'llmr;baseline;help;rm'= {
        }
        &'llmr;baseline;help;help'= {
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
        &'llmr;drill'= {
            cand -m 'The ladder (default: the config''s default one)'
            cand --model 'The ladder (default: the config''s default one)'
            cand --scenario 'Play only this scenario (repeatable); --list shows them'
            cand -n 'Requests in each play'
            cand --requests 'Requests in each play'
            cand --over 'The invented time over which they come'
            cand --config 'Config file [env: LLMR_CONFIG]'
            cand --state 'State file [env: LLMR_STATE]'
            cand --color 'When to use colour'
            cand --all-ladders 'Every ladder of the config'
            cand --list 'List the scenarios'
            cand --matrix 'Count what nine kinds of failure cost in calls; needs no config'
            cand --json 'One JSON object per line: for each play, each file, or each row of the matrix'
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
            cand session 'The conversations that `chat --session` keeps'
            cand classify 'Say what captured failures are'
            cand status 'Show every deployment: eligible, or held by what, why, until when and who said so'
            cand reset 'Clear holds, at once for all processes'
            cand hold 'Bar deployments by hand, at once for all processes'
            cand top 'Watch everything live: ladders, deployments, quotas, attempts and figures'
            cand plan 'Show who would be asked now, in which order, and why each other is skipped; sends nothing'
            cand log 'Show requests and their attempts; with one id its whole trail'
            cand stats 'Show what the log comes to: success, step depth, retries, breakers, failure classes, times, tokens, cost'
            cand guard 'Say whether a program that makes its own calls may call now: exit 0, or 4 and until when'
            cand record 'Say what came of a call that another program made'
            cand probe 'Send the probes that are due, so that no request has to; for cron'
            cand check 'Validate the config and the catalogue offline, and count the failure domains of each ladder'
            cand alarm 'What the alarm has told, and whether anybody hears it'
            cand baseline 'Show or forget the verdicts that `llmr chat --baseline` compares with'
            cand caps 'Show the catalogue: limits, reset clocks, the next reset, and where each number comes from'
            cand init 'Write a commented llmr.toml from the keys that the environment holds; never overwrites'
            cand demo 'Show what llmr does on a night when six providers fail: no key, no network, no config'
            cand drill 'What your ladder does when its providers fail: each of them replaced by a scripted one on loopback'
            cand completions 'Print the completions of a shell'
            cand man 'Print the man page'
            cand help 'Print this message or the help of the given subcommand(s)'
        }
        &'llmr;help;chat'= {
        }
        &'llmr;help;session'= {
            cand list 'All of them, the one that was used last first'
            cand show 'One of them: what was said, and which tools were run'
            cand new 'Begin one that has nothing in it yet'
            cand rm 'Remove conversations with all that was said and run'
            cand settle 'Say what came of a tool''s call of which nobody knows whether it did its work'
        }
        &'llmr;help;session;list'= {
        }
        &'llmr;help;session;show'= {
        }
        &'llmr;help;session;new'= {
        }
        &'llmr;help;session;rm'= {
        }
        &'llmr;help;session;settle'= {
        }
        &'llmr;help;classify'= {
        }
        &'llmr;help;status'= {
        }
        &'llmr;help;reset'= {
        }
        &'llmr;help;hold'= {
        }
        &'llmr;help;top'= {
        }
        &'llmr;help;plan'= {
        }
        &'llmr;help;log'= {
        }
        &'llmr;help;stats'= {
        }
        &'llmr;help;guard'= {
        }
        &'llmr;help;record'= {
        }
        &'llmr;help;probe'= {
        }
        &'llmr;help;check'= {
        }
        &'llmr;help;alarm'= {
            cand test 'Send a test message to each sink now and say what came of it: exit 1 if one failed, 3 if there is none'
            cand list 'Show what is raised, since when, who was told and what waits'
        }
        &'llmr;help;alarm;test'= {
        }
        &'llmr;help;alarm;list'= {
        }
        &'llmr;help;baseline'= {
            cand list 'Every name, with how many inputs are kept under it'
            cand show 'What is kept under a name: the values, when they were said, and by whom'
            cand rm 'Forget all that is kept under a name'
        }
        &'llmr;help;baseline;list'= {
        }
        &'llmr;help;baseline;show'= {
        }
        &'llmr;help;baseline;rm'= {
        }
        &'llmr;help;caps'= {
        }
        &'llmr;help;init'= {
        }
        &'llmr;help;demo'= {
        }
        &'llmr;help;drill'= {
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
