//! Signatures: how a score was made, in the words of sacreBLEU.

/// The release of sacreBLEU whose numbers these are.
pub const SACREBLEU: &str = "2.6.0";

/// Keys and values in the order in which they are printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Signature(pub Vec<(&'static str, String)>);

/// What a score was made of beside the metric itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Setting {
    /// References a sentence; none if they differ.
    pub refs: Option<usize>,
    /// Resamples of a bootstrap, trials of a randomisation, and the seed of either.
    pub bootstrap: Option<usize>,
    pub trials: Option<usize>,
    pub seed: Option<u64>,
}

impl Signature {
    /// What all signatures have, then `own`, then the version.
    pub fn new(setting: &Setting, own: Vec<(&'static str, String)>, version: &str) -> Self {
        let refs = setting.refs.map_or("var".to_string(), |n| n.to_string());
        let mut pairs = vec![("nrefs", refs)];
        pairs.extend(setting.bootstrap.map(|n| ("bs", n.to_string())));
        pairs.extend(setting.trials.map(|n| ("ar", n.to_string())));
        pairs.extend(setting.seed.map(|n| ("seed", n.to_string())));
        pairs.extend(own);
        pairs.push(("version", version.to_string()));
        Signature(pairs)
    }

    /// `nrefs:1|case:mixed|...`; `short` has sacreBLEU's letters for keys.
    pub fn text(&self, short: bool) -> String {
        let tercom = self.0.iter().any(|(k, v)| *k == "tok" && v == "tercom");
        let key = |key: &'static str| match key {
            _ if !short => key,
            "version" => "v",
            "nrefs" => "#",
            "seed" => "rs",
            "case" => "c",
            "eff" => "e",
            "smooth" | "space" => "s",
            "norm" => "nr",
            "punct" => "pn",
            "asian" => "as",
            "tok" if tercom => "t",
            other => other,
        };
        self.0.iter().map(|(k, v)| format!("{}:{v}", key(k))).collect::<Vec<_>>().join("|")
    }
}

/// `yes` or `no`.
pub fn yes(answer: bool) -> String {
    if answer { "yes" } else { "no" }.to_string()
}
