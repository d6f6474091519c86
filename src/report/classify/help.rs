//! What each class means, in one paragraph.

use crate::domain::Class;

/// The help of a class in lines of at most `width` columns, broken between words.
pub fn class_help_lines(class: Class, width: usize) -> String {
    let mut out = format!("{class}:");
    let mut column = out.len();
    for word in class_help(class).split(' ') {
        let breaks = column + 1 + word.len() > width;
        out.push(if breaks { '\n' } else { ' ' });
        out.push_str(word);
        column = if breaks { word.len() } else { column + 1 + word.len() };
    }
    out.push('\n');
    out
}

/// What the class means, how it is told from its neighbours, what is done about it, and what a person can do.
const fn class_help(class: Class) -> &'static str {
    match class {
        Class::RateLimit => {
            "A limit of a short window: requests or tokens per second or minute, or requests at the same time. It heals \
by itself within the hour. The scope that the payload names (a model, an account) rests until the time that the payload \
states, or for a guess that doubles from 5 seconds to an hour; the next step takes the request meanwhile. If it happens \
often, spread the load, ask for a higher limit, or add a key of another account: keys of one account share one limit."
        }
        Class::QuotaExhausted => {
            "The allowance of a long window is used up: a day, a week, a month, or the five hours of a plan. It returns \
at a known reset, however often the provider says \"try again in 30 seconds\" meanwhile. The account rests until the reset \
that the payload states or that the catalogue knows (`llmr caps`), with one early probe, since quotas sometimes come back \
sooner. A larger plan helps; another key of the same account does not."
        }
        Class::Billing => {
            "There is no money or no allowance at all: an empty balance, an unpaid invoice, a plan with a limit of zero. \
Time does not heal it, a person must pay or change the plan. The account rests and is probed after 6 hours, then up to once \
a day. After paying, `llmr reset PROVIDER` makes it eligible at once."
        }
        Class::Auth => {
            "The key is missing, wrong, expired or revoked, or its account is banned. Some providers say so with 400, 403 \
or 404. Only this key rests, until its value changes, `llmr reset`, or a probe: soon if the key ever worked, since rotations \
and incidents pass; after a day if it never did. Check where the key comes from: quotes, spaces and \"null\" are common."
        }
        Class::Permission => {
            "The key is good but not allowed to do this: the model, the region, the feature, the organisation's \
verification or a privacy setting. This key rests for this model alone and stays good for others. Accept the licence, \
enable the model, or change the setting that the message names, then `llmr reset`; a daily probe finds out as well."
        }
        Class::ModelUnavailable => {
            "The model or deployment is unknown, retired, renamed, or nobody serves it. The model is taken out on this \
provider; the key stays good for other models. Check the spelling with the provider's list of models and change the ladder."
        }
        Class::Overloaded => {
            "The provider is short of capacity: 529, \"overloaded\", \"high demand\", a model that is loading. It is not \
your quota, whatever the status says, and another key would not help. It counts towards the breaker; one retry if the \
shared budget allows, then the next step."
        }
        Class::ServerError => {
            "Another fault on the provider's side: 500, a bad gateway, a crashed worker. It counts towards the breaker, \
which opens after 5 failures in a minute or 3 in a row; one retry if the shared budget allows, then the next step."
        }
        Class::Timeout => {
            "No answer, or no complete one, in time: 408, 504, 524, a read that timed out. It counts towards the breaker. \
A deadline that you set yourself is no evidence against a deployment. Long answers may need a larger `timeout`."
        }
        Class::Network => {
            "No answer from the service at all: the name does not resolve, the connection is refused or reset, TLS fails, \
a proxy or a challenge page stands in between, or a stream is cut after its start. It counts towards the breaker of the \
whole provider. If all providers show it at once, look at your own network first."
        }
        Class::ContextOverflow => {
            "The request does not fit this deployment and never will: longer than the context window, more output than it \
gives, or more tokens than a whole minute's limit. Nothing is held; steps with a larger window take it (`context_window` of \
the ladder), and steps whose window is known to be no larger are skipped."
        }
        Class::ContentPolicy => {
            "A safety or policy filter refused the prompt or the answer, also inside a 200. Nothing is held; the ladder of \
`content_policy` takes the request, and never the same model again. It is no fault of the key and repeats if asked again."
        }
        Class::Unsupported => {
            "This deployment lacks what the request uses: tools, images, a JSON schema, a parameter, a role order, a whole \
route. Another deployment would take it, so the next step does that is not known to lack it. Nothing is held. Declare \
`capabilities` in the config to have such steps skipped without asking."
        }
        Class::InvalidRequest => {
            "The request itself is malformed and would fail everywhere: broken JSON, an orphan tool call, a value out of \
range. Nothing is held and nothing else is asked: the request stops with exit code 6 and the provider's words."
        }
        Class::InvalidOutput => {
            "The model answered, but not as asked: empty, cut off by the token limit, no JSON, not the schema, thinking \
only. Nothing is held; one repair on the same deployment says what was wrong, then the next step. More `--max-tokens` or a \
simpler schema often helps."
        }
        Class::Unknown => {
            "The evidence is not enough to say. It is counted and shown, never guessed away: `llmr log --class unknown` \
lists such failures, and `--redact` writes them as captures fit to be shared, so that a rule can be made of them. A 4xx \
stops the request (`on_unknown = \"next\"` changes that); anything else goes on. Your own `[[rules]]` can name it today."
        }
    }
}
