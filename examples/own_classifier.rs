//! A classifier of one's own, for a gateway that nobody else has. It knows that gateway's errors and leaves the rest to
//! the one that is built in, the rules of the config included.
//!
//! `cargo run --example own_classifier` needs no key and no network.

#![expect(clippy::print_stdout, reason = "an example shows what it finds")]

use std::time::Duration;

use llmr::words::Provenance;
use llmr::{Catalog, Class, Classifier, Classify, Evidence, Failure, Router, ScopeLevel, Timestamp};

struct HouseGateway {
    usual: Classifier,
}

impl Classify for HouseGateway {
    fn classify(&self, evidence: &Evidence, catalog: &Catalog, now: Timestamp) -> Failure {
        let is_ours = evidence.provider.as_ref().is_some_and(|provider| *provider == "house");
        // Our gateway says "try the moon" when the batch jobs of the night are running.
        if is_ours && evidence.body.contains("try the moon") {
            let mut failure =
                Failure::new(Class::Overloaded, ScopeLevel::Provider, "house.batch", "the batch jobs run");
            failure.retry_at = now.checked_add(Duration::from_secs(3600)).ok();
            failure.provenance = Provenance::Documented;
            return failure;
        }
        self.usual.classify(evidence, catalog, now)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let config = r#"
        [providers]
        house = { base_url = "http://127.0.0.1:9/v1", wire = "openai" }
        [ladders.main]
        steps = ["house/small"]
    "#;
    let router =
        Router::builder().config_text(config).state_in_memory().classifier(|usual| HouseGateway { usual }).build()?;

    // The router asks it for each failed attempt; here it is asked by hand.
    let none: [(&str, &str); 0] = [];
    let mut batch = Evidence::reply(418, none, "try the moon");
    batch.provider = Some("house".into());
    let failure = router.classify(&batch);
    println!("{} by {}", failure.class, failure.rule);

    let wrong_key = Evidence::reply(401, none, r#"{"error": {"message": "Incorrect API key provided"}}"#);
    println!("{}, as usual", router.classify(&wrong_key).class);
    Ok(())
}
