//! What messages of errors are made of. Words of a list stand in one text, apart by spaces.

/// Messages that are known whole, without their stop.
pub(super) const WHOLE: &[&str] = &[
    "request timed out",
    "the request timed out",
    "request timeout",
    "connection error",
    "connection reset by peer",
    "no healthy upstream",
    "provider returned error",
    "context deadline exceeded",
    "fetch failed",
    "socket hang up",
    "internal server error occurred",
    "an internal error has occurred",
    "claude ai usage limit reached",
    "error interno del servidor",
];

/// Words that explain what a message means, or tell where it came from: no message says them.
pub(super) const EXPLAINS: &str = "\
    answered answers because between caused differ happened happens how indicate indicates mean meaning means \
    protects raised say says sent should shows since so stands tells therefore until usually what why worth";

/// Words without a meaning of their own.
pub(super) const FUNCTION: &str = "\
    a about after an and are as at be been before being by can can't cannot could did do does e for from g had has \
    have however i if in is it its may no not of on or our please s t than that the this through to us via was we \
    we're when while will with x yet you your";

/// Words that say that something fails.
pub(super) const FAILING: &str = "\
    aborted again allocate bad denied disconnect error errors exceed exceeded exceeds exception exhausted expired \
    fail failed failure fatal forbidden hang incorrect insufficient interrupted invalid killed limited low many \
    overloaded reached refused reset resulted retry sorry stopped terminated throttled throttling timed timeout too \
    unauthorized unavailable unexpected unreachable unsupported wrong";

/// Other words of theirs.
pub(super) const MESSAGE: &str = "\
    accepted access account active add additional address agent all allowed anthropic api application attempt \
    attempted attempts authenticate authentication authorization available awaiting backend balance billing blocked \
    body broken busy call calling canceled cancelled capacity center certificate channel check chunk claude client \
    closed closing cloudflare code complete completed completion completions concurrency concurrent connect \
    connection connections contact content context credential credentials credit credits current currently daily day \
    days de deadline default del delayed demand deployment desc details directory disabled dns documentation down \
    due encountered endpoint engine entity eof error_str exist exists experiencing fetch fetching file first found \
    free gateway gemini generating generation getting go gpu handshake headers help high high-demand host hour hours \
    id image images included increase inference input internal interno invoking ip issue iteration key keys large \
    later length level limit limits llama llm loading long longer lookup max maximum memory message messages method \
    minimum minute minutes model models moment monthly more name network now occurred openai operation organization \
    out output overload owner page parameter parse payload payment peer per permission persists pipe plan plans \
    policy pool post process processing project prompt provided provider proxy pulling purchase queue quota rate \
    read reading ready reason received reduce reduced region rejected remaining remote request requested requests \
    required requires resolve resource response retries retrying returned right route rpc runner second seconds \
    server servers service servidor signal slow socket something ssl status stream support system team temporarily \
    temporary tier time tls token tokens total traffic tried trouble try unable unknown unlock up upgrade upstream \
    url usage use used user valid verify wait waiting web website went write writing";

/// How another language says it.
pub(super) struct Tongue {
    /// Its word for an error.
    pub(super) error: &'static str,
    /// What messages say.
    pub(super) says: &'static [&'static str],
    /// What explanations say.
    pub(super) explains: &'static [&'static str],
}

pub(super) const FOREIGN: &[Tongue] = &[
    Tongue {
        error: "fehler",
        says: &[
            "zu viele anfragen",
            "nicht verfügbar",
            "zeitüberschreitung",
            "überlastet",
            "kontingent",
            "serverfehler",
        ],
        explains: &["heißt", "bedeutet", "zeile", "weil", "wenn", "dass", "sagt", "kommt"],
    },
    Tongue {
        error: "erreur",
        says: &["trop de requêtes", "indisponible", "délai", "surchargé", "quota", "interne"],
        explains: &["signifie", "indique", "veut dire", "ligne", "parce", "quand", "lorsque", "que "],
    },
    Tongue {
        error: "error",
        says: &["demasiadas solicitudes", "no disponible", "tiempo de espera", "sobrecargado", "cuota"],
        explains: &["significa", "indica", "quiere decir", "línea", "porque", "cuando"],
    },
    Tongue {
        error: "erro",
        says: &["muitas solicitações", "muitas requisições", "indisponível", "tempo limite", "sobrecarregado", "cota"],
        explains: &["significa", "indica", "quer dizer", "linha", "porque", "quando"],
    },
    Tongue {
        error: "errore",
        says: &["troppe richieste", "non disponibile", "timeout", "sovraccarico", "quota"],
        explains: &["significa", "indica", "vuol dire", "riga", "perché", "quando"],
    },
    Tongue {
        error: "ошибка",
        says: &["внутренняя ошибка", "слишком много запросов", "недоступен", "время ожидания", "превышен"],
        explains: &["означает", "значит", "строк", "потому", "когда", "говорит"],
    },
    Tongue {
        error: "错误",
        says: &["请求过于频繁", "请求过多", "超时", "服务不可用", "稍后", "配额"],
        explains: &["表示", "意味", "是指", "因为", "说明", "行"],
    },
    Tongue {
        error: "エラー",
        says: &["タイムアウト", "リクエストが多すぎ", "利用できません", "上限"],
        explains: &["示し", "意味", "という", "ので", "行目"],
    },
    Tongue {
        error: "오류",
        says: &["한도를 초과", "시간 초과", "사용할 수 없", "과부하"],
        explains: &["의미", "뜻", "때문", "나타"],
    },
];

/// Whether the list has the word.
pub(super) fn has(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}
