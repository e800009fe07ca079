//! `rhae compare` and `rhae report`: their documents.

use super::Bench;

#[test]
fn comparisons_and_reports_of_short_runs() {
    let mut bench = Bench::new();
    bench.redactor.add_field("play_seconds", "seconds");
    for (agent, out) in [("explorer", "one"), ("random", "two"), ("random", "three")] {
        let run = [
            "run", "--agent", agent, "--games", "ym39", "--seed", "1", "--jobs", "1", "--out", out,
        ];
        bench.run(&run).succeeded();
    }
    let sets = ["one", "two"];
    bench.document("compare", "", &sets);
    bench.document("compare", "three", &["one", "two", "three"]);
    bench.document("report", "", &sets);
}
